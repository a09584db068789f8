"""Accuracies with their intervals: teacher-forced characters (the paper's), free-running characters, exact match.

Characters of one sample stand or fall together, so the interval of a character accuracy is that of a ratio over
samples, not over characters.

>>> exact([True] * 95 + [False] * 5)
Score(value=0.95, low=0.888..., high=0.978..., n=100)
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from execlab.data.vocabulary import END_MARK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execlab.evaluation.decoding import Answer
    from execlab.tasks import Sample

Z = 1.959964  # 95 %


class Score(NamedTuple):
    """A share with its 95 % interval, over n samples."""

    value: float
    low: float
    high: float
    n: int


class Scores(NamedTuple):
    """The three accuracies."""

    teacher_forced_accuracy: Score
    free_running_accuracy: Score
    exact_match: Score


def exact(right: Sequence[bool]) -> Score:
    """The share of samples that are right, with Wilson's interval."""
    n, p = len(right), sum(right) / len(right)
    middle, half = p + Z * Z / (2 * n), Z * sqrt(p * (1 - p) / n + Z * Z / (4 * n * n))
    low, high = ((middle + sign * half) / (1 + Z * Z / n) for sign in (-1, 1))
    return Score(p, low if p > 0 else 0.0, high if p < 1 else 1.0, n)  # exactly 0 and 1 at the ends


def ratio(right: Sequence[int], total: Sequence[int]) -> Score:
    """Right characters over all characters, with the interval of a ratio over samples."""
    n, p = len(right), sum(right) / sum(total)
    if p in (0.0, 1.0):  # no spread to go by: fall back on samples
        bound = exact([bool(p)] * n)
        return Score(p, bound.low, bound.high, n)
    mean = sum(total) / n
    variance = sum((r - p * t) ** 2 for r, t in zip(right, total, strict=True)) / max(n - 1, 1)
    half = Z * sqrt(variance / n) / mean
    return Score(p, max(0.0, p - half), min(1.0, p + half), n)


def matches(said: str, target: str) -> int:
    """How many characters of the target, end mark included, stand where they should."""
    return sum(a == b for a, b in zip(said, target + END_MARK, strict=False))


def teacher_forced(samples: Sequence[Sample], answers: Sequence[Answer]) -> Score:
    """The paper's accuracy."""
    right = [matches(a.teacher_forced, s.target) for s, a in zip(samples, answers, strict=True)]
    return ratio(right, [len(s.target) + 1 for s in samples])


def whole(samples: Sequence[Sample], answers: Sequence[Answer]) -> list[bool]:
    """Which samples are right from end to end; the same free-running, for what is right so far is what is given."""
    return [a.teacher_forced == s.target + END_MARK for s, a in zip(samples, answers, strict=True)]


def score(samples: Sequence[Sample], answers: Sequence[Answer]) -> Scores:
    """All three accuracies."""
    pairs = list(zip(samples, answers, strict=True))
    free = [matches(a.free_running + END_MARK * a.ended, s.target) for s, a in pairs]
    return Scores(
        teacher_forced(samples, answers),
        ratio(free, [len(s.target) + 1 for s in samples]),
        exact([is_right(s, a) for s, a in pairs]),
    )


def is_right(sample: Sample, answer: Answer) -> bool:
    """Free-running, the whole output and the end mark."""
    return answer.ended and answer.free_running == sample.target
