"""Intervals of accuracies and of their differences: bounds, order, coverage, and the units in which they are shown."""

from __future__ import annotations

from itertools import pairwise
from math import sqrt
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execlab.evaluation.compare import Compared, Difference, paired
from execlab.evaluation.scores import Score, Scores, Z, exact, ratio, residuals
from execlab.randomness import stream
from execlab.tables import show_comparison

if TYPE_CHECKING:
    from random import Random

COUNTS = st.lists(
    st.integers(1, 12).flatmap(lambda t: st.tuples(st.integers(0, t), st.integers(0, t), st.just(t))), min_size=1
)


@given(COUNTS)
def test_intervals_stay_within_bounds_and_have_a_width(counts: list[tuple[int, int, int]]) -> None:
    one, other, total = ([line[i] for line in counts] for i in range(3))
    for found in (ratio(one, total), ratio(other, total)):
        assert 0 <= found.low <= found.value <= found.high <= 1
        assert found.low < found.high
        assert found.n == len(counts)
    gap = paired(one, other, total)
    assert -1 <= gap.low <= gap.value <= gap.high <= 1
    assert gap.low < gap.high
    back = paired(other, one, total)
    assert (back.value, back.low, back.high) == pytest.approx((-gap.value, -gap.high, -gap.low))


@given(st.integers(1, 60), st.integers(1, 9))
def test_more_errors_lower_the_interval(n: int, length: int) -> None:
    """Strictly, and from no error at all on: one wrong character in each of k samples, and k whole wrong samples."""
    total = [length] * n
    one_each = [ratio([length - (i < k) for i in range(n)], total).low for k in range(n + 1)]
    whole = [ratio([length * (i >= k) for i in range(n)], total).low for k in range(n + 1)]
    for lows in (one_each, whole):
        assert all(after < before for before, after in pairwise(lows))


def test_one_wrong_character_lowers_the_interval() -> None:
    """Before, 0 wrong gave 99.81 % and 1 wrong 99.97 %."""
    perfect = ratio([5] * 2000, [5] * 2000)
    assert perfect.low == pytest.approx(10_000 / (10_000 + Z * Z))
    assert ratio([4] + [5] * 1999, [5] * 2000).low < perfect.low


def test_a_difference_stays_within_bounds() -> None:
    """All right against all wrong with targets of 1 and 9 characters; before, 1.0 (0.869 to 1.131)."""
    gap = paired([1, 9], [0, 0], [1, 9])
    assert gap.value == gap.high == 1.0
    assert 0 < gap.low < 0.9


def test_samples_of_one_character_are_samples() -> None:
    right = [True] * 8 + [False] * 2
    assert ratio([int(one) for one in right], [1] * 10) == exact(right)


def test_a_model_against_itself() -> None:
    """The difference is 0, and how sure that is depends on how many samples say so."""
    few, many = (paired([3, 0] * n, [3, 0] * n, [3, 3] * n) for n in (5, 500))
    assert few.value == many.value == 0
    assert few.low < many.low < 0 < many.high < few.high


def test_newcombe_by_hand() -> None:
    """His method 10 written out for a 2 x 2 table: both right 20, only the first 12, only the second 2, neither 16."""
    one = [1] * 32 + [0] * 18
    other = [1] * 20 + [0] * 12 + [1] * 2 + [0] * 16
    gap = paired(one, other, [1] * 50)
    phi = (20 * 16 - 12 * 2 - 50 / 2) / sqrt(32 * 18 * 22 * 28)
    first, second = exact([bool(x) for x in one]), exact([bool(x) for x in other])
    a, b = first.value - first.low, second.high - second.value
    c, d = first.high - first.value, second.value - second.low
    assert gap.value == pytest.approx(0.2)
    assert gap.low == pytest.approx(0.2 - sqrt(a * a - 2 * phi * a * b + b * b))
    assert gap.high == pytest.approx(0.2 + sqrt(c * c - 2 * phi * c * d + d * d))


def _errors(rng: Random, n: int, wrong: float, shared: float) -> tuple[list[int], list[int], list[int]]:
    """Two models on samples of 2 to 9 characters; a wrong sample loses half of its characters, some in both models."""
    one: list[int] = []
    other: list[int] = []
    total = []
    for _ in range(n):
        length = 2 + int(8 * rng.random())
        both = rng.random() < shared
        for right in (one, other):
            fails = both or rng.random() < wrong
            right.append(length - sum(rng.random() < 0.5 for _ in range(length)) if fails else length)
        total.append(length)
    return one, other, total


def test_many_samples_give_the_plain_interval_of_paired_ratios() -> None:
    one, other, total = _errors(stream("plain"), 2000, 0.5, 0.2)
    rests = [a - b for a, b in zip(residuals(one, total), residuals(other, total), strict=True)]
    half = Z * sqrt(sum(rest * rest for rest in rests) * 2000 / 1999) / sum(total)
    gap = paired(one, other, total)
    assert gap.value - gap.low == pytest.approx(half, rel=0.03)
    assert gap.high - gap.value == pytest.approx(half, rel=0.03)
    score, own = ratio(one, total), residuals(one, total)
    half = Z * sqrt(sum(rest * rest for rest in own) * 2000 / 1999) / sum(total)
    assert (score.high - score.low) / 2 == pytest.approx(half, rel=0.03)


def test_the_intervals_cover_the_truth() -> None:
    """Clustered errors: 97 % of the characters are right in both models, so the true difference is 0."""
    rng, of_score, of_gap = stream("coverage of characters"), 0, 0
    for _ in range(400):
        one, other, total = _errors(rng, 300, 0.0408, 0.02)  # 0.06 of the samples fail, and lose half
        score, gap = ratio(one, total), paired(one, other, total)
        of_score += score.low <= 0.97 <= score.high
        of_gap += gap.low <= 0 <= gap.high
    assert 0.90 <= of_score / 400 <= 0.99
    assert 0.90 <= of_gap / 400 <= 0.99


def test_differences_are_shown_in_percentage_points(capsys: pytest.CaptureFixture[str]) -> None:
    score = Score(0.9, 0.8, 0.95, 100)
    none, gap = Difference(0.0, -0.01, 0.01), Difference(0.02, 0.011, 0.029)
    rows = [Compared(name, Scores(score, score, score), shown, shown) for name, shown in (("a", none), ("b", gap))]
    show_comparison("addition", rows)
    text = capsys.readouterr().out
    assert "percentage" in text
    assert "+2.00 pp" in " ".join(text.split())
    assert "+2.00%" not in text
