"""Rows: what a run's own files tell, and what older rows lack."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rows import bare_row

from execlab.errors import ExeclabError
from execlab.experiments import make_grid
from execlab.experiments.analyse.planned import planned_runs
from execlab.experiments.analyse.rows import COLUMNS, read_rows, write_rows
from execlab.experiments.run.collect import climb
from execlab.experiments.run.work import read_grid, write_grid
from execlab.training.config import make_config
from execlab.training.metrics import Metrics

if TYPE_CHECKING:
    from pathlib import Path


def test_the_climb_ends_where_the_steps_at_the_goal_begin() -> None:
    config = make_config("smoke", length=3)
    lines = [
        Metrics(
            step=characters,
            samples=characters,
            characters=characters,
            length=length,
            nesting=1,
            current_teacher_forced_accuracy=0.0,
            goal_teacher_forced_accuracy=0.0,
        )
        for length, characters in ((1, 100), (2, 250), (3, 600), (3, 1000))
    ]
    assert climb(config, lines) == 0.25
    assert climb(config, lines[2:]) == 0.0  # baseline and mix are there from the first step
    assert climb(config, lines[:2]) == 1.0


def test_rows_of_earlier_versions_do_not_tell_the_climb(tmp_path: Path) -> None:
    whole = bare_row()
    old = {name: content for name, content in whole.to_json().items() if name not in ("climb", "scoring")}
    (tmp_path / "results.jsonl").write_text(json.dumps(old) + "\n")
    assert read_rows(tmp_path) == [replace(whole, climb=None, scoring=1)]
    write_rows([whole], tmp_path)
    assert read_rows(tmp_path) == [whole]
    (tmp_path / "results.jsonl").write_text(json.dumps({"climb": 1}) + "\n")
    with pytest.raises(ExeclabError, match="without 'experiment'"):
        read_rows(tmp_path)


def test_columns_of_another_version_are_kept(tmp_path: Path) -> None:
    line = bare_row().to_json() | {"padding": 7}
    (tmp_path / "results.jsonl").write_text(json.dumps(line) + "\n")
    (row,) = read_rows(tmp_path)
    assert row.extra == {"padding": 7}
    write_rows([row], tmp_path)
    assert (tmp_path / "results.jsonl").read_text() == json.dumps(line) + "\n"


def test_every_column_has_a_meaning_and_a_place() -> None:
    assert all(COLUMNS.values())
    assert list(bare_row().to_json()) == list(COLUMNS)


@pytest.mark.parametrize("scale", ["laptop", "paper"])
def test_short_runs_are_not_waited_for(tmp_path: Path, scale: str) -> None:
    """Whatever the runs are called, and whether grid.json records the budget or is of an earlier version."""
    grid = [
        planned._replace(name=f"run-{place}")
        for place, planned in enumerate(make_grid("memorization", scale, seeds=2, precision="bfloat16"))
    ]
    full = [planned for planned in grid if planned.budget == "full"]
    assert 0 < len(full) < len(grid)
    write_grid(tmp_path, grid)
    assert list(read_grid(tmp_path).values()) == grid
    rows = [bare_row(experiment="memorization", scale=scale, run="run-0", budget="full")]
    assert planned_runs(tmp_path, rows) == {"memorization": len(full)}
    entries = json.loads((tmp_path / "grid.json").read_text())
    for entry in entries.values():
        entry.pop("budget", None)
    (tmp_path / "grid.json").write_text(json.dumps(entries))
    assert planned_runs(tmp_path, rows) == {"memorization": len(full)}


def test_what_a_row_records_comes_first(tmp_path: Path) -> None:
    (tmp_path / "grid.json").write_text(json.dumps({"a-short-name": {}, "b": {}, "c": None}))
    rows = [bare_row(experiment="memorization", run="b", budget="short")]
    assert planned_runs(tmp_path, rows) == {"memorization": 2}


def test_a_grid_of_another_shape(tmp_path: Path) -> None:
    rows = [bare_row(experiment="memorization", scale="laptop", run="a")]
    large = {"seed": 10**9, "task": "memorization"}
    entries: list[object] = [None, [1], {"task": []}, {"length": "x"}, {"layout": [1]}, large]
    for entry in entries:
        (tmp_path / "grid.json").write_text(json.dumps({"b": entry}))
        assert planned_runs(tmp_path, rows) == {"memorization": 1}
    for grid in ([], ["a"], 3, "a"):
        (tmp_path / "grid.json").write_text(json.dumps(grid))
        with pytest.raises(ExeclabError, match="another shape"):
            planned_runs(tmp_path, rows)
