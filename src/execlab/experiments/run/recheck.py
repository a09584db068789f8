"""Recorded runs once more from scratch, compared to the last digit."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from execlab.errors import ExeclabError
from execlab.experiments.analyse.rows import ACCURACIES, check_same_data, read_rows, value
from execlab.experiments.run.collect import collect
from execlab.experiments.run.engine import LocalEngine, run_grid
from execlab.experiments.run.work import read_recorded

if TYPE_CHECKING:
    from execlab.experiments.analyse.rows import Row
    from execlab.experiments.run.display import Watch

COMPARED = (*ACCURACIES, "steps", "samples", "characters", "n")


class Checked(NamedTuple):
    """The result of a run that was done again."""

    name: str
    differences: dict[str, tuple[object, object]]  # column: recorded, now
    elsewhere: dict[str, tuple[object, object]]  # what the bits depend on and is not the same here


def recheck(folder: Path, pattern: str, workers: int, watch: Watch) -> list[Checked]:
    """Do the runs of a grid whose names fit once more, in a folder of their own, and compare their rows."""
    rows = {row.run: row for row in read_rows(folder)}
    planned = read_recorded(folder, [], rows)
    names = [name for name in rows if fnmatchcase(name, pattern)]
    if not names:
        raise ExeclabError(f"{folder} has no row of a run named {pattern!r}; the first is {next(iter(rows), None)}")
    check_same_data([rows[name] for name in names], folder, "only the execlab that made them can do these runs again")
    # What `auto` meant then is part of the run.
    grid = []
    for name in names:
        then: Any = rows[name]
        config = replace(planned[name].config, precision=then.precision, kernel=then.kernel)
        grid.append(planned[name]._replace(config=config))
    with tempfile.TemporaryDirectory(prefix="execlab-recheck-") as place:
        fresh = Path(place)
        progress = run_grid(grid, fresh, LocalEngine(fresh, workers), watch)
        for name, reason in progress.failed.items():
            raise ExeclabError(f"{name} could not be done again: {reason}")
        again = {row.run: row for row in collect("", "", grid, fresh)}
    return [_compare(rows[name], again[name]) for name in names]


def _compare(then: Row, now: Row) -> Checked:
    # What was scored by another rule cannot be the same.
    compared = [name for name in COMPARED if name != "free_running_accuracy" or then.scoring == now.scoring]
    before, here = json.loads(then.versions), json.loads(now.versions)
    return Checked(
        then.run,
        {name: (value(then, name), value(now, name)) for name in compared if value(then, name) != value(now, name)},
        {
            name: (before.get(name), here.get(name))
            for name in here.keys() | before
            if before.get(name) != here.get(name)
        },
    )
