"""How far a grid is and what remains, with a clock that the test moves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from execlab.experiments import Planned
from execlab.experiments.run.display import WINDOW, GridProgress
from execlab.progress import Rate
from execlab.training.config import make_config
from execlab.training.metrics import Metrics, append_metrics

if TYPE_CHECKING:
    from pathlib import Path

GRID = [Planned(name, make_config("smoke", steps=2_000)) for name in ("one", "two")]


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def grid(tmp_path: Path, clock: Clock) -> GridProgress:
    """A grid of two runs, of which the first is running."""
    (tmp_path / "runs" / "one").mkdir(parents=True)
    rate = Rate(1.0, window=WINDOW, clock=clock)
    return GridProgress(tmp_path, GRID, running=["one"], rate=rate)


def evaluate(grid: GridProgress, step: int) -> str:
    """The running run is evaluated at this step; gives the sentence after that."""
    run = grid.folder / "runs" / "one"
    (run / "metrics.jsonl").unlink(missing_ok=True)
    accuracies: dict[str, Any] = {"current_teacher_forced_accuracy": 0.5, "goal_teacher_forced_accuracy": 0.5}
    append_metrics(run, Metrics(step=step, samples=8 * step, length=2, nesting=1, **accuracies))
    return grid.sentence()


def test_nothing_is_promised_before_the_first_evaluation(grid: GridProgress, clock: Clock) -> None:
    for clock.now in (0.0, 10.0, 20.0):
        assert "left" not in grid.sentence()


def test_the_last_minutes_count(grid: GridProgress, clock: Clock) -> None:
    grid.sentence()
    for clock.now in range(10, 1_000, 10):
        sentence = evaluate(grid, int(clock.now))  # a step per second
    assert "50 min left" in sentence  # 990 of 4,000 steps are done
    for clock.now in range(1_000, 1_130, 10):
        sentence = evaluate(grid, 990 + (int(clock.now) - 990) // 10)  # another program takes the processor
    assert "8.3 h left" in sentence  # the mean since the start would be an hour


def test_evaluations_that_are_rare(grid: GridProgress, clock: Clock) -> None:
    """Between two of them the remaining time neither vanishes nor grows."""
    grid.sentence()
    for clock.now in (500.0, 1_000.0):
        sentence = evaluate(grid, int(clock.now))
    assert "50 min left" in sentence
    for clock.now in (1_200.0, 1_400.0):
        assert "50 min left" in grid.sentence()


def test_a_grid_that_goes_on(grid: GridProgress, clock: Clock) -> None:
    """What was done before this process started is not its speed."""
    evaluate(grid, 1_000)
    clock.now = 100.0
    assert "48 min left" in evaluate(grid, 1_100)  # 2,900 steps at one per second are 48 minutes


def test_the_last_run_ends(grid: GridProgress, clock: Clock) -> None:
    evaluate(grid, 1_000)
    clock.now, grid.running, grid.done = 10.0, [], ["one", "two"]
    assert "2 of 2 runs done, 0 running, 0 s left" in grid.sentence()
