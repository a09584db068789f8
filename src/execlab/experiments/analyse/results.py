"""A folder of results as a document sees it: rows of experiments, reports of single runs, files of their own shape."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, NamedTuple

from execlab.errors import ExeclabError
from execlab.experiments.analyse.judge import judge
from execlab.experiments.analyse.planned import planned_runs
from execlab.experiments.analyse.rows import ACCURACIES, read_json, read_rows
from execlab.experiments.analyse.summary import Mean
from execlab.experiments.memorization import modification
from execlab.training.config import config_from_dict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from execlab.experiments.analyse.claims import Claim
    from execlab.experiments.analyse.summary import Row


class Run(NamedTuple):
    """A run in a table."""

    what: str
    seed: int
    samples: int
    seconds: float
    scores: dict[str, Mean]  # intervals over test samples


def _what(
    task: str, length: int, nesting: int, modification: str, strategy: str, precision: str, cores: int = 1
) -> str:
    """In words; float32 and one core go without saying."""
    goal = f"length {length}, nesting {nesting}" if task == "program" else f"{length} digits"
    name = "programs" if task == "program" else task
    parts = [f"{name} of {goal}", modification.replace("plain", ""), strategy, precision.replace("float32", "")]
    return ", ".join(part for part in (*parts, f"{cores} cores" * (cores > 1)) if part)


def _run_of_row(line: Row) -> Run:
    what = _what(*(line[name] for name in ("task", "length", "nesting", "modification", "strategy", "precision")))
    scores = {name: Mean(line[name], line[f"{name}_low"], line[f"{name}_high"], line["n"]) for name in ACCURACIES}
    return Run(what, line["seed"], line["samples"], line["seconds"], scores)


def _run_of_report(report: dict[str, Any]) -> Run:
    config, counters, test = config_from_dict(report["config"]), report["counters"], report["test"]
    network = "" if config.model == "lstm" else f"{config.model}, "  # the paper's goes without saying
    how = (f"{network}{config.strategy}", config.precision, config.threads)
    what = _what(config.task, config.length, config.nesting, modification(config), *how)
    scores = {name: Mean(**test[name]) for name in ACCURACIES}
    return Run(what, config.seed, counters["samples"], counters["seconds"], scores)


class Results:
    """A folder of results, seen from a document."""

    def __init__(self, folder: Path, document: Path) -> None:
        self.folder, self.document = folder, document

    def rows(self, names: Sequence[str]) -> list[dict[str, Any]]:
        """The rows of some experiments."""
        found = [line for name in names for line in read_rows(self.folder / name)]
        if not found:
            raise ExeclabError(f"{self.document} asks for results of {' '.join(names) or 'nothing'}: there are none")
        return found

    def claims(self, names: Sequence[str]) -> list[Claim]:
        """What their rows say about the paper's claims."""
        rows = {name: self.rows([name]) for name in names}
        planned = {one: n for name in names for one, n in planned_runs(self.folder / name, rows[name]).items()}
        return judge([line for found in rows.values() for line in found], planned)

    def json(self, name: str) -> Any:
        """A file of its own shape."""
        if (found := read_json(self.folder / name, None)) is None:
            raise ExeclabError(f"{self.folder / name} is wanted by {self.document}, but does not exist")
        return found

    def runs(self, patterns: Sequence[str]) -> list[Run]:
        """Single runs: rows of an experiment, all or EXPERIMENT/NAME, or reports; * in a name stands for anything."""
        return [run for pattern in patterns for run in self._runs(pattern)]

    def _runs(self, pattern: str) -> list[Run]:
        experiment, _, name = pattern.partition("/")
        if (self.folder / experiment / "results.jsonl").exists():
            rows = [line for line in read_rows(self.folder / experiment) if fnmatchcase(line["run"], name or "*")]
            if not rows:
                raise ExeclabError(f"{self.document} asks for runs {pattern!r}: there are none")
            return [_run_of_row(line) for line in rows]
        found = sorted(self.folder.glob(f"{pattern}.json"))
        if not found:
            raise ExeclabError(f"{self.folder}/{pattern}.json is wanted by {self.document}, but does not exist")
        return [_run_of_report(self.json(str(path.relative_to(self.folder)))) for path in found]
