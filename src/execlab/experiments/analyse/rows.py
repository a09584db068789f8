"""What the runs of a grid found, one row per finished run: results.jsonl, and Parquet if pyarrow is there.

`COLUMNS` says what every column means. `pandas.read_json("results.jsonl", lines=True)` reads the file as it is.
"""

from __future__ import annotations

import json
from io import BytesIO
from typing import TYPE_CHECKING, Any

from execlab.data.splits import DATA_VERSION
from execlab.errors import ExeclabError
from execlab.experiments.memorization import modification
from execlab.experiments.run.processes import is_finished
from execlab.files import read_regular, write_atomically
from execlab.training import runs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from execlab.experiments import Planned
    from execlab.training.config import Config

ACCURACIES = ("teacher_forced_accuracy", "free_running_accuracy", "exact_match")
COLUMNS: dict[str, str] = {
    "experiment": "which figure the run belongs to",
    "scale": "smoke, laptop or paper",
    "run": "the run's folder below runs/",
    "task": "program, addition or memorization",
    "strategy": "baseline, naive, mix or combined",
    "length": "digits per integer, at the goal",
    "nesting": "operations per program, at the goal",
    "modification": "what is done to the input of memorization; empty for other tasks",
    "budget": "full, or short: a fixed, smaller number of epochs",
    "scrambled": "whether the characters are permuted",
    "order": "the climb of naive and combined: length_first or nesting_first",
    "seed": "of the model and of the training samples",
    "climb": "the share of the characters that was read before the goal was reached; 1: never; empty: not recorded",
    "steps": "steps of learning",
    "samples": "training samples",
    "characters": "characters through the model while learning",
    "seconds": "of learning, without evaluations",
    "parameters": "numbers that are learned",
    **{
        f"{name}{end}": f"{text} ({what})"
        for name, text in zip(
            ACCURACIES,
            (
                "characters, each given the correct ones before it",
                "characters, free-running",
                "whole outputs, free-running",
            ),
            strict=True,
        )
        for end, what in (("", "test split, at the goal"), ("_low", "95 % interval"), ("_high", "95 % interval"))
    },
    "scoring": "2: free-running accuracy is over the longer of output and target; 1: over the target, as before 0.3",
    "n": "test samples",
    "data_version": "of the samples; those of execlab 0.2 are of version 1",
    "chance": "the share of characters that guessing among the possible ones gets right",
    "most_frequent_character": "the share that the most frequent character per position gets right",
    "finished": "why learning ended",
    "precision": "of the products",
    "kernel": "what did the recurrence",
    "commit": "of execlab, if it ran from a checkout",
    "versions": "of Python, PyTorch and what else the bits depend on, as JSON",
}

NUMBERS = {"length", "nesting", "seed", "steps", "samples", "characters", "seconds", "parameters", "n"}
NUMBERS |= {
    "scoring",
    "data_version",
    "chance",
    "most_frequent_character",
    *(f"{name}{end}" for name in ACCURACIES for end in ("", "_low", "_high")),
}
OTHERS = {"scrambled", "climb", "commit"}  # neither a number nor a text in every row
LARGEST = 1 << 28  # bytes of results.jsonl
LATER: dict[str, Any] = {"climb": None, "scoring": 1, "data_version": 1}  # what older rows do not have


def labels(experiment: str, scale: str, planned: Planned) -> dict[str, Any]:
    """The columns of a run that are known before it has begun."""
    config = planned.config
    return {
        "experiment": experiment,
        "scale": scale,
        "run": planned.name,
        "task": config.task,
        "strategy": config.strategy,
        "length": config.length,
        "nesting": config.nesting,
        "modification": modification(config),
        "budget": planned.budget,
        "scrambled": config.scramble is not None,
        "order": config.strategy_options.get("order", "length_first"),
        "seed": config.seed,
    }


def climb(config: Config, lines: Sequence[Mapping[str, Any]]) -> float:
    """The share of a run's characters that was read before the goal was reached."""
    spent = 0
    for line in lines:  # an evaluation tells the difficulty of the steps before it
        if (line["length"], line["nesting"]) == config.goal:
            return float(spent / lines[-1]["characters"])
        spent = line["characters"]
    return 1.0


def row(experiment: str, scale: str, planned: Planned, folder: Path) -> dict[str, Any]:
    """The row of a finished run."""
    about, report = runs.read_about(folder), json.loads((folder / "report.json").read_text(encoding="utf-8"))
    counters, test = report["counters"], report["test"]
    found = {
        **labels(experiment, scale, planned),
        "climb": climb(planned.config, runs.read_metrics(folder)),
        "steps": counters["step"],
        "samples": counters["samples"],
        "characters": counters["characters"],
        "seconds": round(counters["seconds"], 1),
        "parameters": about["parameters"],
        "scoring": test.get("scoring", 1),
        "n": test["exact_match"]["n"],
        "data_version": about["data_version"],
        "chance": test["chance"],
        "most_frequent_character": test["most_frequent_character"],
        "finished": counters["finished"],
        "precision": report["config"]["precision"],
        "kernel": report["config"]["kernel"],
        "commit": about["commit"],
        "versions": json.dumps(about["versions"]),
    }
    for name in ACCURACIES:
        found |= {name: test[name]["value"], f"{name}_low": test[name]["low"], f"{name}_high": test[name]["high"]}
    return {column: found[column] for column in COLUMNS}


def collect(experiment: str, scale: str, grid: Sequence[Planned], folder: Path) -> list[dict[str, Any]]:
    """The rows of the runs that are finished, in the order of the grid; a row outlives the folder of its run."""
    found = recorded(folder)
    for planned in grid:
        if is_finished(run := folder / "runs" / planned.name):
            found[planned.name] = row(experiment, scale, planned, run)
    order = {planned.name: place for place, planned in enumerate(grid)}
    return sorted(found.values(), key=lambda line: order.get(line["run"], len(order)))  # others: of more seeds, say


def recorded(folder: Path) -> dict[str, dict[str, Any]]:
    """The rows that stand in a folder by name of their run; none if it has no results."""
    return {line["run"]: line for line in read_rows(folder)} if (folder / "results.jsonl").exists() else {}


def check_same_data(rows: Iterable[Mapping[str, Any]], folder: Path, advice: str) -> None:
    """Raise if some of a folder's rows are of samples that this execlab does not draw."""
    if other := sorted({line["data_version"] for line in rows} - {DATA_VERSION}):
        raise ExeclabError(
            f"{folder} has results of data version {other[0]}, and this execlab draws version {DATA_VERSION}; {advice}"
        )


def write_rows(rows: Sequence[dict[str, Any]], folder: Path) -> None:
    """results.jsonl, and results.parquet where pyarrow is installed; whoever sees both sees the same rows."""
    table = _as_parquet(rows)
    (folder / "results.parquet").unlink(missing_ok=True)
    write_atomically(folder / "results.jsonl", "".join(json.dumps(line) + "\n" for line in rows).encode(), root=folder)
    if table is not None:
        write_atomically(folder / "results.parquet", table, root=folder)


def _as_parquet(rows: Sequence[dict[str, Any]]) -> bytes | None:
    """The rows as a Parquet file; None without rows or without pyarrow."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        return None
    if not rows:
        return None
    buffer = BytesIO()
    pq.write_table(pa.Table.from_pylist(list(rows)), buffer)
    return buffer.getvalue()


def read_json(path: Path, otherwise: Any) -> Any:
    """What a file beside the rows says; `otherwise` if there is no such file."""
    try:
        return json.loads(read_regular(path))
    except FileNotFoundError:
        return otherwise
    except ExeclabError:
        raise
    except (ValueError, RecursionError):
        raise ExeclabError(f"{path} is damaged: it is not JSON") from None


def _check(line: Mapping[str, Any], path: Path) -> None:
    """Raise if a column of a row holds something else than execlab writes there."""
    for name in COLUMNS:
        value = line[name]
        if name in NUMBERS and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise ExeclabError(f"{path} has a row in which {name} is {repr(value)[:40]}; it must be a number")
        if name not in NUMBERS | OTHERS and not isinstance(value, str):
            raise ExeclabError(f"{path} has a row in which {name} is {repr(value)[:40]}; it must be a text")


def read_rows(folder: Path) -> list[dict[str, Any]]:
    """results.jsonl."""
    path = folder / "results.jsonl"
    try:
        rows = [LATER | json.loads(line) for line in read_regular(path, LARGEST).splitlines()]
    except FileNotFoundError:
        raise ExeclabError(f"{folder} holds no results: it has no results.jsonl") from None
    except ExeclabError:
        raise
    except (ValueError, TypeError, RecursionError):
        raise ExeclabError(f"{path} is damaged: it is not JSON") from None
    if missing := [name for name in COLUMNS for line in rows if name not in line]:
        raise ExeclabError(f"{path} has rows without {missing[0]!r}")
    for line in rows:
        _check(line, path)
    return [{**{name: line[name] for name in COLUMNS}, **line} for line in rows]  # in one order
