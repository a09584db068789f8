"""Models on identical samples, and the interval of their paired differences."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from execlab.evaluation.scores import Z, is_right, matches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execlab.evaluation.evaluate import Evaluation


class Difference(NamedTuple):
    """A mean difference with its 95 % interval."""

    value: float
    low: float
    high: float


def paired(one: Sequence[float], other: Sequence[float]) -> Difference:
    """The mean of one - other, sample by sample.

    >>> paired([1, 1, 0, 1], [0, 1, 0, 1])
    Difference(value=0.25, low=-0.239..., high=0.739...)
    """
    gaps = [a - b for a, b in zip(one, other, strict=True)]
    n, mean = len(gaps), sum(gaps) / len(gaps)
    half = Z * sqrt(sum((gap - mean) ** 2 for gap in gaps) / max(n - 1, 1) / n)
    return Difference(mean, mean - half, mean + half)


def differences(one: Evaluation, first: Evaluation) -> tuple[Difference, Difference]:
    """Teacher-forced accuracy and exact match of one model against the first; their targets are the same."""
    mean = sum(len(sample.target) + 1 for sample in one.samples) / len(one.samples)
    forced, whole = [], []
    for found in (one, first):
        pairs = list(zip(found.samples, found.answers, strict=True))
        forced.append([matches(a.teacher_forced, s.target) / mean for s, a in pairs])
        whole.append([float(is_right(s, a)) for s, a in pairs])
    return paired(*forced), paired(*whole)
