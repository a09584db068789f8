"""A recorded run done again: the same to the last digit, or a clear word why not."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from execlab.cli.experiments import recheck
from execlab.errors import ExeclabError
from execlab.experiments import make_grid
from execlab.experiments.analyse.rows import read_rows, write_rows
from execlab.experiments.run.collect import collect
from execlab.experiments.run.display import Watch
from execlab.experiments.run.engine import LocalEngine, run_grid

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recorded")
    grid = make_grid("addition", "smoke")[:1]
    run_grid(grid, folder, LocalEngine(folder, 1), Watch())
    write_rows(collect("addition", "smoke", grid, folder), folder)
    return folder


def test_same_and_not_the_same(recorded: Path) -> None:
    done = CliRunner().invoke(recheck, [str(recorded)])
    assert done.exit_code == 0, done.output
    assert "1 of 1 runs are the same to the last digit" in done.output
    rows = read_rows(recorded)
    rows[0] = replace(rows[0], exact_match=rows[0].exact_match + 1e-12)
    write_rows(rows, recorded)
    done = CliRunner().invoke(recheck, [str(recorded), "--runs", "*-baseline-0"])
    assert done.exit_code == 1
    assert "exact_match was" in done.output
    assert "should be the same" in done.output
    elsewhere = json.dumps(json.loads(rows[0].versions) | {"processor": "an abacus"})
    rows[0] = replace(rows[0], versions=elsewhere)
    write_rows(rows, recorded)
    done = CliRunner().invoke(recheck, [str(recorded)])
    assert done.exit_code == 0
    assert "processor was an abacus" in done.output
    assert "to be expected" in done.output


def test_unknown_runs_and_folders(recorded: Path, tmp_path: Path) -> None:
    for folder, pattern, said in ((recorded, "nothing", "no row of a run"), (tmp_path, "*", "holds no results")):
        done = CliRunner().invoke(recheck, [str(folder), "--runs", pattern])
        assert isinstance(done.exception, ExeclabError)
        assert said in str(done.exception)
