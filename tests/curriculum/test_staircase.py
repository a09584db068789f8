"""The climb: its order by hand, its rule, and that it always ends."""

from __future__ import annotations

import pytest

from execlab.curriculum import Climb, Trigger, make_strategy, staircase
from execlab.tasks import TASKS, Difficulty, make_task


def test_length_first() -> None:
    assert staircase(Difficulty(3, 2)) == [(1, 1), (2, 1), (3, 1), (1, 2), (2, 2), (3, 2)]


def test_nesting_first() -> None:
    assert staircase(Difficulty(3, 2), "nesting_first") == [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (3, 2)]


def test_stride_always_ends_at_the_goal() -> None:
    assert [stair.length for stair in staircase(Difficulty(65), stride=20)] == [1, 21, 41, 61, 65]
    assert staircase(Difficulty(1)) == [(1, 1)]


def test_baseline_and_mix_stand_at_the_goal() -> None:
    goal = Difficulty(4, 3)
    for name in ("baseline", "mix"):
        assert make_strategy(name, goal).difficulties() == [make_strategy(name, goal).current] == [(4, 3)]
    for name in ("naive", "combined"):
        assert make_strategy(name, goal).difficulties() == staircase(goal)


def test_a_later_start() -> None:
    assert staircase(Difficulty(4, 2), start=3) == [(3, 1), (4, 1), (3, 2), (4, 2)]
    assert staircase(Difficulty(2), start=5) == [(2, 1)]
    assert make_strategy("naive", Difficulty(4), {"start": 2}).current == (2, 1)


def test_climbs_when_validation_passes() -> None:
    climb = Climb(staircase(Difficulty(3)))
    assert climb.update(0.95, 0.0) is None  # passes means above
    assert climb.update(0.951, 0.0) == "climb"
    assert climb.current == (2, 1)


def test_climbs_when_there_is_no_more_progress() -> None:
    climb = Climb(staircase(Difficulty(2)), patience=3)
    said = [climb.update(accuracy, 1.0) for accuracy in (0.5, 0.504, 0.505, 0.52, 0.521, 0.51, 0.524)]
    assert said == [None, None, None, None, None, None, "climb"]


def test_decays_at_the_goal() -> None:
    """Once when validation passes, then by the training set alone."""
    climb = Climb([Difficulty(2)], patience=2)
    assert climb.update(0.96, 0.9) == "decay"
    assert [climb.update(0.99, training) for training in (0.9, 0.9, 0.9)] == [None, None, "decay"]


def test_the_released_rule() -> None:
    climb = Climb(staircase(Difficulty(3)), trigger="released")
    training = [0.5, 0.6, 0.7, 0.8, 0.9, 0.55, 0.58]
    assert [climb.update(0.1, accuracy) for accuracy in training] == [None] * 6 + ["climb"]
    assert climb.update(0.96, 0.9) == "climb"
    assert [climb.update(0.96, 0.9) for _ in range(3)] == ["decay"] * 3  # at every evaluation that passes


@pytest.mark.parametrize("trigger", ["progress", "released"])
@pytest.mark.parametrize("accuracy", [0.0, 0.1, 0.5, 0.95, 0.96, 1.0])
@pytest.mark.parametrize("strategy", ["baseline", "naive", "mix", "combined"])
@pytest.mark.parametrize("task", TASKS)
def test_every_climb_ends(task: str, strategy: str, accuracy: float, trigger: Trigger) -> None:
    goal = make_task(task, {}).hardest
    climb = Climb(make_strategy(strategy, goal).difficulties(), trigger)
    for _ in range(len(climb.stairs) * 101):
        if climb.at_goal:
            break
        climb.update(accuracy, accuracy)
    assert climb.at_goal
    # And the rate falls for ever after, so the paper's termination comes too.
    decays = sum(climb.update(accuracy, accuracy) == "decay" for _ in range(101 * 30))
    assert decays >= 28


def test_even_endless_slow_progress_ends() -> None:
    climb = Climb(staircase(Difficulty(2)))
    accuracies = (0.0051 * i for i in range(1000))
    assert next(i for i, accuracy in enumerate(accuracies) if climb.update(min(accuracy, 0.949), 0.0)) <= 200
