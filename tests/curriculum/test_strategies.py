"""The paper's four strategies: what they draw, and how often."""

from __future__ import annotations

from collections import Counter

import pytest

from execlab.curriculum import Strategy, make_strategy
from execlab.randomness import stream
from execlab.tasks import Difficulty

CURRENT, GOAL = Difficulty(2, 1), Difficulty(4, 3)
EVERYTHING = {(length, nesting) for length in (1, 2, 3, 4) for nesting in (1, 2, 3)}


def strategy_at(name: str, stair: int = 1, **options: object) -> Strategy:
    """A strategy; a climbing one has reached this stair."""
    strategy = make_strategy(name, GOAL, options)
    if len(strategy.difficulties()) > 1:
        strategy.load_state_dict({**strategy.state_dict(), "stair": stair})
    return strategy


def draws(strategy: Strategy, count: int = 24_000) -> Counter[Difficulty]:
    rng = stream("strategies")
    return Counter(strategy.draw(rng) for _ in range(count))


@pytest.mark.parametrize(
    ("name", "support"), [("baseline", {(4, 3)}), ("naive", {(2, 1)}), ("mix", EVERYTHING), ("combined", EVERYTHING)]
)
def test_support(name: str, support: set[tuple[int, int]]) -> None:
    assert set(draws(strategy_at(name))) == support


def test_mix_is_uniform_in_both() -> None:
    assert all(count == pytest.approx(2_000, abs=200) for count in draws(strategy_at("mix")).values())


def test_combined_is_one_fifth_mix() -> None:
    counts = draws(strategy_at("combined"))
    at_current = counts.pop(CURRENT)
    assert at_current / 24_000 == pytest.approx(0.8 + 0.2 / 12, abs=0.01)
    assert all(count == pytest.approx(24_000 * 0.2 / 12, abs=100) for count in counts.values())


def test_the_share_of_mix_can_be_chosen() -> None:
    assert set(draws(strategy_at("combined", mix_share=0.0), 200)) == {CURRENT}
    assert set(draws(strategy_at("combined", mix_share=1.0), 2_400)) == EVERYTHING
