"""From the files of a finished run to its row of results."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from execlab.experiments.analyse.rows import ACCURACIES, Row, recorded
from execlab.experiments.run.processes import is_finished
from execlab.training.metrics import read_metrics
from execlab.training.report import read_report
from execlab.training.runs import read_about

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from execlab.experiments import Planned
    from execlab.training.config import Config
    from execlab.training.metrics import Metrics


def labels(experiment: str, scale: str, planned: Planned) -> dict[str, Any]:
    """The columns of a run that are known before it begins."""
    config = planned.config
    return {
        "experiment": experiment,
        "scale": scale,
        "run": planned.name,
        "task": config.task,
        "strategy": config.strategy,
        "length": config.length,
        "nesting": config.nesting,
        "modification": config.make_task().modification,
        "budget": planned.budget,
        "scrambled": config.scramble is not None,
        "order": config.strategy_options.get("order", "length_first"),
        "seed": config.seed,
    }


def relabelled(row: Row, experiment: str, scale: str, planned: Planned) -> Row:
    """A row of another grid as a row of this one."""
    return replace(row, **labels(experiment, scale, planned))


def climb(config: Config, metrics: Sequence[Metrics]) -> float:
    """The share of a run's characters that was read before the goal was reached."""
    spent = 0
    for line in metrics:  # an evaluation records the difficulty of the steps before it
        if (line.length, line.nesting) == config.goal:
            return float(spent / metrics[-1].characters)
        spent = line.characters
    return 1.0


def row_of(experiment: str, scale: str, planned: Planned, folder: Path) -> Row:
    """The row of a finished run."""
    about, report = read_about(folder), read_report(folder / "report.json")
    counters, test = report.counters, report.test
    accuracies: dict[str, Any] = {}
    for name in ACCURACIES:
        score = getattr(test.scores, name)
        accuracies |= {name: score.value, f"{name}_low": score.low, f"{name}_high": score.high}
    return Row(
        **labels(experiment, scale, planned),
        climb=climb(planned.config, read_metrics(folder)),
        data_version=about.data_version,
        steps=counters.step,
        samples=counters.samples,
        characters=counters.characters,
        seconds=round(counters.seconds, 1),
        parameters=about.parameters,
        **accuracies,
        scoring=test.scoring,
        n=test.scores.exact_match.n,
        chance=test.chance,
        most_frequent_character=test.most_frequent_character,
        finished=counters.finished,
        precision=report.config.precision,
        kernel=report.config.kernel,
        commit=about.commit,
        versions=json.dumps(about.versions),
    )


def collect(experiment: str, scale: str, grid: Sequence[Planned], folder: Path) -> list[Row]:
    """The rows of the finished runs, in the order of the grid; a row outlives the folder of its run."""
    rows = recorded(folder)
    for planned in grid:
        if is_finished(run := folder / "runs" / planned.name):
            rows[planned.name] = row_of(experiment, scale, planned, run)
    order = {planned.name: place for place, planned in enumerate(grid)}
    return sorted(rows.values(), key=lambda row: order.get(row.run, len(order)))  # others: of more seeds, say
