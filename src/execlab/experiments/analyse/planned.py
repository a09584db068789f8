"""How many runs an experiment has, so that nothing is judged before all of them are done.

A run's budget is what its row records, or else what grid.json records. A grid.json of an earlier version does not
record it: such a run is looked up by its Config in the grid of its experiment.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from execlab.errors import ExeclabError
from execlab.experiments import SCALES, known_experiment
from execlab.experiments.analyse.rows import read_json
from execlab.training.config import config_from_dict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from execlab.experiments.analyse.rows import Row
    from execlab.training.config import Config

SET_ASIDE: dict[str, Any] = {"precision": "float32", "seed": 0, "data_seed": 0}  # no part of a run's budget


def planned_runs(folder: Path, rows: Sequence[Row]) -> dict[str, int]:
    """How many runs with their full budget the experiment in a folder, whose rows these are, has; 0 if not known."""
    entries = read_json(folder / "grid.json", {})
    if not isinstance(entries, dict):
        raise ExeclabError(f"{folder / 'grid.json'} has another shape than execlab writes")
    budgets = {row.run: row.budget for row in rows if row.run in entries}
    for name, entry in entries.items():
        if name not in budgets and isinstance(entry, dict) and "budget" in entry:
            budgets[name] = entry["budget"]
    unknown = [entry for name, entry in entries.items() if name not in budgets]
    counts = {}
    for experiment, scale in dict.fromkeys((row.experiment, row.scale) for row in rows):
        short = _short(experiment, scale, unknown) if unknown else 0
        counts[experiment] = sum(budget != "short" for budget in budgets.values()) + len(unknown) - short
    return counts


def _short(experiment: str, scale: str, entries: Sequence[Any]) -> int:
    """How many of these entries of grid.json are runs of the experiment with the short budget."""
    known = known_experiment(experiment)
    if known is None or scale not in SCALES:
        return 0
    grid = known.grid(scale, 1)
    short = {replace(planned.config, **SET_ASIDE) for planned in grid if planned.budget == "short"}
    return sum(_comparable(entry) in short for entry in entries)


def _comparable(entry: Mapping[str, Any]) -> Config | None:
    """An entry as a Config of the first seed in float32; None if this version cannot read it."""
    try:
        return replace(config_from_dict(entry), **SET_ASIDE)
    except (TypeError, ExeclabError):
        return None
