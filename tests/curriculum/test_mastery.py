"""The climb that waits for mastery: by hand."""

from __future__ import annotations

import json

from execlab.curriculum import Scores, make_strategy
from execlab.curriculum.mastery import Mastery
from execlab.randomness import stream
from execlab.tasks import Difficulty

GOAL = Difficulty(4, 2)  # stairs (2, 1), (3, 1), (4, 1), (2, 2), (3, 2), (4, 2)


def climb(**options: object) -> Mastery:
    strategy = make_strategy("mastery", GOAL, options)
    assert isinstance(strategy, Mastery)
    return strategy


def tell(strategy: Mastery, **exact: float) -> object:
    """Scores by names such as d31 for (3, 1)."""
    scores = {Difficulty(int(name[1]), int(name[2])): value for name, value in exact.items()}
    return strategy.observe(Scores({}, {}, scores))


def test_stays_until_mastered() -> None:
    strategy = climb()
    assert strategy.current == (2, 1)
    assert [tell(strategy, d21=value) for value in (0.3, 0.9, 0.95)] == [None, None, None]  # passes means above
    assert tell(strategy, d21=0.96) == "climb"
    assert strategy.current == (3, 1)


def test_gives_up_only_what_is_clearly_stuck() -> None:
    strategy = climb(patience=3)
    assert [tell(strategy, d21=value) for value in (0.5, 0.505, 0.52, 0.52, 0.525)] == [None] * 5
    assert tell(strategy, d21=0.51) == "climb"
    assert strategy.stuck == [True, False, False, False, False, False]


def test_returns_to_what_is_forgotten() -> None:
    strategy = climb()
    tell(strategy, d21=0.97)
    tell(strategy, d31=0.97)
    assert strategy.current == (4, 1)
    assert strategy.probes() == [(4, 1), (2, 1)] or strategy.probes() == [(4, 1), (3, 1)]
    assert tell(strategy, d41=0.2, d31=0.85) is None  # worse, but not forgotten
    assert strategy.current == (4, 1)
    assert tell(strategy, d41=0.2, d31=0.7) is None
    assert strategy.current == (3, 1)
    assert tell(strategy, d31=0.97) == "climb"
    assert strategy.current == (4, 1)


def test_every_stair_left_behind_is_scored_in_turn() -> None:
    strategy = climb()
    for stair in ("d21", "d31", "d41"):
        tell(strategy, **{stair: 0.99})
    reviewed = set()
    for _ in range(3):
        current, other = strategy.probes()
        assert current == (2, 2)
        reviewed.add(other)
        tell(strategy, **{f"d{other.length}{other.nesting}": 0.99})
    assert reviewed == {(2, 1), (3, 1), (4, 1)}


def test_draws_review_what_is_weak() -> None:
    strategy = climb(mix_share=0.0, review=0.5)
    tell(strategy, d21=0.99)
    tell(strategy, d31=0.96)
    tell(strategy, d41=0.1, d31=0.82)
    rng = stream("mastery")
    drawn = [strategy.draw(rng) for _ in range(2_000)]
    shares = {difficulty: drawn.count(difficulty) / 2_000 for difficulty in set(drawn)}
    assert shares.keys() == {(2, 1), (3, 1), (4, 1)}
    assert abs(shares[Difficulty(4, 1)] - 0.5) < 0.05
    assert shares[Difficulty(3, 1)] > 3 * shares[Difficulty(2, 1)]


def test_what_a_checkpoint_keeps_is_everything() -> None:
    strategy = climb()
    tell(strategy, d21=0.99)
    tell(strategy, d31=0.4)
    other = climb()
    other.load_state_dict(json.loads(json.dumps(strategy.state_dict())))
    assert other == strategy
    for again in (strategy, other):
        tell(again, d31=0.96)
    assert strategy.state_dict() == other.state_dict()


def test_it_ends_at_the_goal() -> None:
    strategy = climb(patience=1)
    for _ in range(40):
        tell(strategy, **{f"d{strategy.current.length}{strategy.current.nesting}": 0.1})
    assert strategy.current == GOAL
