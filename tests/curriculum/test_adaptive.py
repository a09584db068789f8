"""Adaptive strategies: they turn to what changes, forget nothing over a checkpoint, and stay within the goal."""

from __future__ import annotations

import json

import pytest

from execlab.curriculum import STRATEGIES, Scores, Strategy, Tally, make_strategy
from execlab.curriculum.adaptive import Teacher, slope
from execlab.randomness import stream
from execlab.tasks import Difficulty

GOAL = Difficulty(3, 2)
TEACHERS = [name for name, kind in STRATEGIES.items() if issubclass(kind, Teacher)]
every_strategy = pytest.mark.parametrize("name", STRATEGIES)


def scores(strategy: Strategy, evaluation: int) -> Scores:
    """Made-up scores: the easier, the faster they rise."""
    accuracies = {d: min(1.0, 0.2 + 0.1 * evaluation / (d.length * d.nesting)) for d in strategy.difficulties()}
    return Scores(accuracies, {d: Tally(20, int(100 * value), 100) for d, value in accuracies.items()})


def share(strategy: Strategy, difficulty: Difficulty, count: int = 2_000) -> float:
    rng = stream("share")
    return sum(strategy.draw(rng) == difficulty for _ in range(count)) / count


@every_strategy
def test_draws_stay_within_the_goal(name: str) -> None:
    strategy = make_strategy(name, GOAL)
    for evaluation in range(30):
        rng = stream("draws", evaluation)
        for _ in range(50):
            length, nesting = strategy.draw(rng)
            assert 1 <= length <= GOAL.length
            assert 1 <= nesting <= GOAL.nesting
        strategy.observe(scores(strategy, evaluation))


@every_strategy
def test_a_checkpoint_holds_everything(name: str) -> None:
    whole, resumed = make_strategy(name, GOAL), make_strategy(name, GOAL)
    for evaluation in range(12):
        again = make_strategy(name, GOAL)
        again.load_state_dict(json.loads(json.dumps(resumed.state_dict())))
        resumed = again
        one, other = stream("draws", evaluation), stream("draws", evaluation)
        assert [whole.draw(one) for _ in range(40)] == [resumed.draw(other) for _ in range(40)]
        assert whole.observe(scores(whole, evaluation)) == resumed.observe(scores(resumed, evaluation))


@pytest.mark.parametrize(
    ("name", "options"),
    [*((name, {}) for name in STRATEGIES), *((name, {"scored_on": "validation"}) for name in TEACHERS)],
)
def test_the_contract(name: str, options: dict[str, str]) -> None:
    """What is drawn depends on the state and on chance alone; the state is JSON and changes only in `observe`."""
    strategy = make_strategy(name, GOAL, options)
    assert strategy.goal == GOAL
    for evaluation in range(8):
        difficulties, state = strategy.difficulties(), json.dumps(strategy.state_dict())
        assert difficulties[-1] == GOAL
        assert len(set(difficulties)) == len(difficulties)
        assert strategy.current in difficulties
        assert set(strategy.probes()) <= set(difficulties)
        first, again = ([strategy.draw(stream("draws", i)) for i in range(40)] for _ in range(2))
        assert first == again
        assert json.dumps(strategy.state_dict()) == state
        other = make_strategy(name, GOAL, options)
        other.load_state_dict(json.loads(state))
        assert json.dumps(other.state_dict()) == state
        assert strategy.observe(scores(strategy, evaluation)) in (None, "climb", "decay")


@pytest.mark.parametrize("name", TEACHERS)
def test_attention_goes_to_what_changes(name: str) -> None:
    """Also to what gets worse: it is being forgotten."""
    for direction in (1, -1):
        strategy = make_strategy(name, Difficulty(4), {"epsilon": 0.0})
        for evaluation in range(30):
            moving = 0.6 + direction * 0.01 * evaluation
            accuracies = {Difficulty(1): 1.0, Difficulty(2): moving, Difficulty(3): 0.1, Difficulty(4): 0.1}
            training = {d: Tally(100, int(1_000 * value), 1_000) for d, value in accuracies.items()}
            strategy.observe(Scores(accuracies, training))
        shares = {d: share(strategy, d) for d in accuracies}
        assert max(shares, key=lambda d: shares[d]) == Difficulty(2), shares


@pytest.mark.parametrize("name", TEACHERS)
def test_validation_instead_of_training(name: str) -> None:
    strategy = make_strategy(name, Difficulty(3), {"scored_on": "validation"})
    assert strategy.probes() == strategy.difficulties() == [(1, 1), (2, 1), (3, 1)]
    assert make_strategy(name, Difficulty(3)).probes() == []


def test_boltzmann_is_softer_than_greed() -> None:
    for policy, low, high in (("epsilon", 0.0, 0.0), ("boltzmann", 0.4, 0.5)):
        options = {"policy": policy, "temperature": 1.0, "epsilon": 0.0}
        strategy = make_strategy("window", Difficulty(2), options)
        for evaluation in range(5):
            training = {Difficulty(1): Tally(10, 10 + evaluation, 100), Difficulty(2): Tally(10, 50, 100)}
            strategy.observe(Scores({Difficulty(2): 0.5}, training))
        assert low <= share(strategy, Difficulty(2)) <= high


def test_a_handful_of_samples_is_no_score() -> None:
    strategy = make_strategy("window", Difficulty(2))
    strategy.observe(Scores({Difficulty(2): 0.0}, {Difficulty(1): Tally(3, 30, 30)}))
    assert strategy.state_dict()["history"] == [[], []]


def test_the_slope() -> None:
    assert slope([]) == slope([(1, 0.5)]) == 0.0
    assert slope([(1, 0.1), (3, 0.5)]) == pytest.approx(0.2)
