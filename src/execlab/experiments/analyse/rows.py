"""Results of a grid, one row per finished run: results.jsonl, and Parquet if pyarrow is there.

`Row` says what every column means. `pandas.read_json("results.jsonl", lines=True)` reads the file as it is.
"""

from __future__ import annotations

import json
from dataclasses import MISSING, dataclass, field, fields
from io import BytesIO
from typing import TYPE_CHECKING, Any, get_type_hints

from execlab.data.splits import DATA_VERSION
from execlab.errors import ExeclabError
from execlab.files import read_regular, write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

ACCURACIES = ("teacher_forced_accuracy", "free_running_accuracy", "exact_match")
LARGEST = 1 << 28  # bytes of results.jsonl


def column(text: str, default: Any = MISSING) -> Any:
    """A field with its meaning; the default is for rows that are older than the column."""
    return field(default=default, metadata={"help": text})


@dataclass(frozen=True, kw_only=True)
class Row:
    """The result of one run; the columns of results.jsonl in their order."""

    experiment: str = column("which figure the run belongs to")
    scale: str = column("smoke, laptop or paper")
    run: str = column("the run's folder below runs/")
    task: str = column("program, addition or memorization")
    strategy: str = column("baseline, naive, mix or combined")
    length: int = column("digits per integer, at the goal")
    nesting: int = column("operations per program, at the goal")
    modification: str = column("how the input of memorization is modified, or how work is shown; else empty")
    budget: str = column("full, or short: a fixed, smaller number of epochs")
    scrambled: bool = column("whether the characters are permuted")
    order: str = column("the climb of naive and combined: length_first or nesting_first")
    seed: int = column("of the model and of the training samples")
    climb: float | None = column(
        "the share of the characters that was read before the goal was reached; 1: never; empty: not recorded", None
    )
    steps: int = column("steps of learning")
    samples: int = column("training samples")
    characters: int = column("characters through the model while learning")
    seconds: float = column("of learning, without evaluations")
    parameters: int = column("numbers that are learned")
    teacher_forced_accuracy: float = column(
        "characters, each given the correct ones before it (test split, at the goal)"
    )
    teacher_forced_accuracy_low: float = column("the lower end of its 95 % interval")
    teacher_forced_accuracy_high: float = column("the upper end of its 95 % interval")
    free_running_accuracy: float = column("characters, free-running (test split, at the goal)")
    free_running_accuracy_low: float = column("the lower end of its 95 % interval")
    free_running_accuracy_high: float = column("the upper end of its 95 % interval")
    exact_match: float = column("whole outputs, free-running (test split, at the goal)")
    exact_match_low: float = column("the lower end of its 95 % interval")
    exact_match_high: float = column("the upper end of its 95 % interval")
    scoring: int = column(
        "2: free-running accuracy is over the longer of output and target; 1: over the target, as before 0.3", 1
    )
    n: int = column("test samples")
    data_version: int = column("of the samples; those of execlab 0.2 are of version 1", 1)
    chance: float = column("the share of characters that a uniform guess gets right")
    most_frequent_character: float = column("the share that the most frequent character per position gets right")
    finished: str = column("why learning ended")
    precision: str = column("of the matmuls")
    kernel: str = column("which code computed the recurrence")
    commit: str | None = column("of execlab, if it ran from a checkout")
    versions: str = column("of Python, PyTorch and what else the bits depend on, as JSON")
    extra: dict[str, Any] = field(default_factory=dict)  # columns of another version, kept as they are

    def to_json(self) -> dict[str, Any]:
        """The row as a line of results.jsonl."""
        return {**{name: getattr(self, name) for name in COLUMNS}, **self.extra}


COLUMNS: dict[str, str] = {each.name: each.metadata["help"] for each in fields(Row) if each.metadata}
_HINTS = get_type_hints(Row)
NUMBERS = {name for name in COLUMNS if _HINTS[name] in (int, float)}
TEXTS = {name for name in COLUMNS if _HINTS[name] is str}
_LATER = {each.name for each in fields(Row) if each.default is not MISSING}  # what rows of 0.1 do not have


def value(row: Row, name: str) -> Any:
    """The column that a figure, a claim or a document names."""
    return getattr(row, name)


def _row(values: Mapping[str, Any], path: Path) -> Row:
    """A line of results.jsonl as a row; raises if a column is missing or has the wrong kind of value."""
    if missing := [name for name in COLUMNS if name not in values and name not in _LATER]:
        raise ExeclabError(f"{path} has rows without {missing[0]!r}")
    for name in COLUMNS:
        content = values.get(name)
        if name not in values:
            continue
        if name in NUMBERS and (isinstance(content, bool) or not isinstance(content, int | float)):
            raise ExeclabError(f"{path} has a row in which {name} is {repr(content)[:40]}; it must be a number")
        if name in TEXTS and not isinstance(content, str):
            raise ExeclabError(f"{path} has a row in which {name} is {repr(content)[:40]}; it must be a text")
    known = {name: values[name] for name in COLUMNS if name in values}
    return Row(**known, extra={name: content for name, content in values.items() if name not in COLUMNS})


def read_rows(folder: Path) -> list[Row]:
    """The rows in results.jsonl."""
    path = folder / "results.jsonl"
    try:
        lines = [json.loads(line) for line in read_regular(path, LARGEST).splitlines()]
    except FileNotFoundError:
        raise ExeclabError(f"{folder} holds no results: it has no results.jsonl") from None
    except ExeclabError:
        raise
    except (ValueError, RecursionError):
        raise ExeclabError(f"{path} is damaged: it is not JSON") from None
    if not all(isinstance(line, dict) for line in lines):
        raise ExeclabError(f"{path} is damaged: every line must be a JSON object")
    return [_row(line, path) for line in lines]


def recorded(folder: Path) -> dict[str, Row]:
    """The rows of a folder by name of their run; none if it has no results."""
    return {row.run: row for row in read_rows(folder)} if (folder / "results.jsonl").exists() else {}


def check_same_data(rows: Iterable[Row], folder: Path, advice: str) -> None:
    """Raise if some of a folder's rows are of samples that this execlab does not draw."""
    if other := sorted({row.data_version for row in rows} - {DATA_VERSION}):
        raise ExeclabError(
            f"{folder} has results of data version {other[0]}, and this execlab draws version {DATA_VERSION}; {advice}"
        )


def write_rows(rows: Sequence[Row], folder: Path) -> None:
    """Write results.jsonl, and results.parquet where pyarrow is installed; both hold the same rows at any moment."""
    lines = [row.to_json() for row in rows]
    table = _as_parquet(lines)
    (folder / "results.parquet").unlink(missing_ok=True)
    write_atomically(folder / "results.jsonl", "".join(json.dumps(line) + "\n" for line in lines).encode(), root=folder)
    if table is not None:
        write_atomically(folder / "results.parquet", table, root=folder)


def _as_parquet(lines: list[dict[str, Any]]) -> bytes | None:
    """The rows as a Parquet file; None without rows or without pyarrow."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        return None
    if not lines:
        return None
    buffer = BytesIO()
    pq.write_table(pa.Table.from_pylist(lines), buffer)
    return buffer.getvalue()


def read_json(path: Path, otherwise: Any) -> Any:
    """The content of a file beside the rows; `otherwise` if there is no such file."""
    try:
        return json.loads(read_regular(path))
    except FileNotFoundError:
        return otherwise
    except ExeclabError:
        raise
    except (ValueError, RecursionError):
        raise ExeclabError(f"{path} is damaged: it is not JSON") from None
