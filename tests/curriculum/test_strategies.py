"""Each strategy's support, by hand."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from execlab.curriculum import STRATEGIES, combined
from execlab.randomness import stream
from execlab.tasks import Difficulty

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

CURRENT, GOAL = Difficulty(2, 1), Difficulty(4, 3)
EVERYTHING = {(length, nesting) for length in (1, 2, 3, 4) for nesting in (1, 2, 3)}


def draws(strategy: Callable[[Random, Difficulty, Difficulty], Difficulty], count: int = 24_000) -> Counter[Difficulty]:
    rng = stream("strategies")
    return Counter(strategy(rng, CURRENT, GOAL) for _ in range(count))


@pytest.mark.parametrize(
    ("name", "support"), [("baseline", {(4, 3)}), ("naive", {(2, 1)}), ("mix", EVERYTHING), ("combined", EVERYTHING)]
)
def test_support(name: str, support: set[tuple[int, int]]) -> None:
    assert set(draws(STRATEGIES[name])) == support


def test_the_four_strategies() -> None:
    assert list(STRATEGIES) == ["baseline", "naive", "mix", "combined"]


def test_mix_is_uniform_in_both() -> None:
    assert all(count == pytest.approx(2_000, abs=200) for count in draws(STRATEGIES["mix"]).values())


def test_combined_is_one_fifth_mix() -> None:
    counts = draws(combined)
    at_current = counts.pop(CURRENT)
    assert at_current / 24_000 == pytest.approx(0.8 + 0.2 / 12, abs=0.01)
    assert all(count == pytest.approx(24_000 * 0.2 / 12, abs=100) for count in counts.values())


def test_the_share_of_mix_can_be_chosen() -> None:
    rng = stream("share")
    assert {combined(rng, CURRENT, GOAL, mix_share=0.0) for _ in range(200)} == {CURRENT}
    mixed = Counter(combined(rng, CURRENT, GOAL, mix_share=1.0) for _ in range(2_400))
    assert set(mixed) == EVERYTHING
