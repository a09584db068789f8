"""A folder of results as a document sees it: rows of experiments, reports of single runs, files of their own shape."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, NamedTuple

from execlab.errors import ExeclabError
from execlab.evaluation.scorecard import read_evaluated
from execlab.experiments.analyse.judge import judge
from execlab.experiments.analyse.planned import planned_runs
from execlab.experiments.analyse.rows import ACCURACIES, read_json, read_rows, value
from execlab.experiments.analyse.summary import Mean
from execlab.training.report import report_from

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from execlab.evaluation.scorecard import Evaluated
    from execlab.experiments.analyse.claims import Claim
    from execlab.experiments.analyse.rows import Row
    from execlab.training.report import Report


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
    """In words; float32 and one core are not mentioned."""
    goal = f"length {length}, nesting {nesting}" if task == "program" else f"{length} digits"
    name = "programs" if task == "program" else task
    parts = [f"{name} of {goal}", modification.replace("plain", ""), strategy, precision.replace("float32", "")]
    return ", ".join(part for part in (*parts, f"{cores} cores" * (cores > 1)) if part)


def _run_of_row(row: Row) -> Run:
    what = _what(row.task, row.length, row.nesting, row.modification, row.strategy, row.precision)
    scores = {
        name: Mean(value(row, name), value(row, f"{name}_low"), value(row, f"{name}_high"), row.n)
        for name in ACCURACIES
    }
    return Run(what, row.seed, row.samples, row.seconds, scores)


def _run_of_report(report: Report) -> Run:
    config, counters = report.config, report.counters
    network = "" if config.model == "lstm" else f"{config.model}, "  # the paper's is not mentioned
    how = (f"{network}{config.strategy}", config.precision, config.threads)
    what = _what(config.task, config.length, config.nesting, config.make_task().modification, *how)
    scores = {name: Mean(*getattr(report.test.scores, name)) for name in ACCURACIES}
    return Run(what, config.seed, counters.samples, counters.seconds, scores)


class Results:
    """A folder of results, seen from a document."""

    def __init__(self, folder: Path, document: Path) -> None:
        self.folder, self.document = folder, document

    def rows(self, names: Sequence[str]) -> list[Row]:
        """The rows of some experiments."""
        rows = [row for name in names for row in read_rows(self.folder / name)]
        if not rows:
            raise ExeclabError(f"{self.document} asks for results of {' '.join(names) or 'nothing'}: there are none")
        return rows

    def claims(self, names: Sequence[str]) -> list[Claim]:
        """What their rows say about the paper's claims."""
        rows = {name: self.rows([name]) for name in names}
        planned: dict[str, int] = {}
        for name in names:
            planned |= planned_runs(self.folder / name, rows[name])
        return judge([row for name in names for row in rows[name]], planned)

    def json(self, name: str) -> Any:
        """A file of its own shape."""
        if (content := read_json(self.folder / name, None)) is None:
            raise ExeclabError(f"{self.document} needs {self.folder / name}, which does not exist")
        return content

    def report(self, name: str) -> Report:
        """The report of a run."""
        return report_from(self.json(name), self.folder / name)

    def evaluated(self, name: str) -> Evaluated:
        """The output of `execlab evaluate --json`."""
        return read_evaluated(self.json(name), self.folder / name)

    def runs(self, patterns: Sequence[str]) -> list[Run]:
        """Single runs: rows of an experiment, all or EXPERIMENT/NAME, or reports; * in a name matches anything."""
        return [run for pattern in patterns for run in self._runs(pattern)]

    def _runs(self, pattern: str) -> list[Run]:
        experiment, _, name = pattern.partition("/")
        if (self.folder / experiment / "results.jsonl").exists():
            rows = [row for row in read_rows(self.folder / experiment) if fnmatchcase(row.run, name or "*")]
            if not rows:
                raise ExeclabError(f"{self.document} asks for runs {pattern!r}: there are none")
            return [_run_of_row(row) for row in rows]
        paths = sorted(self.folder.glob(f"{pattern}.json"))
        if not paths:
            raise ExeclabError(f"{self.document} needs {self.folder}/{pattern}.json, which does not exist")
        return [_run_of_report(self.report(str(path.relative_to(self.folder)))) for path in paths]
