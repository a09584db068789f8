"""Accuracies with their intervals: teacher-forced characters (the paper's), free-running characters, exact match.

All intervals are Wilson's. Characters of one sample are right or wrong together, so the interval of a character
accuracy counts an effective number of characters: as many independent ones as have the same standard error.

>>> exact([True] * 95 + [False] * 5)
Score(value=0.95, low=0.888..., high=0.978..., n=100)
>>> ratio([3, 3, 0, 3], [3, 3, 3, 3])  # a whole sample is wrong: 12 characters count like 3
Score(value=0.75, low=0.256..., high=0.963..., n=4)
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from execlab.data.vocabulary import END_MARK

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from execlab.evaluation.decoding import Answer
    from execlab.tasks import Sample

Z = 1.959964  # 95 %
SCORING = 2  # free-running accuracy is over the longer of output and target; 1, before 0.3: over the target


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


def wilson(p: float, effective: float, n: int) -> Score:
    """A share with Wilson's interval for an effective number of independent trials, over n samples."""
    square = Z * Z / effective
    middle, half = p + square / 2, sqrt(square * (p * (1 - p) + square / 4))
    low, high = ((middle + sign * half) / (1 + square) for sign in (-1, 1))
    return Score(p, low if p > 0 else 0.0, high if p < 1 else 1.0, n)  # exactly 0 and 1 at the ends


def exact(right: Sequence[bool]) -> Score:
    """The share of samples that are right."""
    return wilson(sum(right) / len(right), len(right), len(right))


def residuals(right: Sequence[int], total: Sequence[int]) -> list[float]:
    """How many more characters of each sample are right than its length lets expect."""
    everything = sum(total)
    p = sum(right) / everything
    return [r - p * t for r, t in zip(right, total, strict=True)]


def effective_number(right: Sequence[int], total: Sequence[int]) -> float:
    """The number of independent characters that would have the standard error of this ratio over samples.

    It is at most the number of characters. With nothing wrong, or nothing right, it is that number: the limit of a
    single wrong character, so that the first error always lowers the interval.
    """
    n, everything = len(right), sum(total)
    p = sum(right) / everything
    if n == 1:
        return 1.0
    if p in (0.0, 1.0) or everything == n:  # one character per sample: they are independent
        return float(everything)
    variance = sum(rest * rest for rest in residuals(right, total)) * n / (n - 1) / everything**2
    return everything / max(1.0, variance / (p * (1 - p) / everything))  # the divisor is the design effect


def ratio(right: Sequence[int], total: Sequence[int]) -> Score:
    """Right characters over all characters."""
    return wilson(sum(right) / sum(total), effective_number(right, total), len(right))


def matches(printed: str, target: str) -> int:
    """How many characters of the target, end mark included, are printed in their place."""
    return sum(a == b for a, b in zip(printed, target + END_MARK, strict=False))


def teacher_forced(samples: Sequence[Sample], answers: Sequence[Answer]) -> Score:
    """The paper's accuracy."""
    right = [matches(a.teacher_forced, s.target) for s, a in zip(samples, answers, strict=True)]
    return ratio(right, [len(s.target) + 1 for s in samples])


def whole(samples: Sequence[Sample], answers: Sequence[Answer]) -> list[bool]:
    """Which samples are right from end to end; teacher-forced and free-running agree on that."""
    return [a.teacher_forced == s.target + END_MARK for s, a in zip(samples, answers, strict=True)]


def free_running(samples: Sequence[Sample], answers: Sequence[Answer]) -> Score:
    """Characters in their place, over the longer of output and target: printing too much costs as printing too little.

    End marks count. `12345678.` for `12.` is 2 of 9, and `1.` is 1 of 3.
    """
    printed = [a.free_running + END_MARK * a.ended for a in answers]
    right = [matches(text, s.target) for s, text in zip(samples, printed, strict=True)]
    return ratio(right, [max(len(s.target) + 1, len(text)) for s, text in zip(samples, printed, strict=True)])


def score(samples: Sequence[Sample], answers: Sequence[Answer], counts: Callable[[str], str] = str) -> Scores:
    """All three accuracies; exact match is of what counts in an output (a task's `answer`)."""
    return Scores(
        teacher_forced(samples, answers),
        free_running(samples, answers),
        exact([is_right(s, a, counts) for s, a in zip(samples, answers, strict=True)]),
    )


def is_right(sample: Sample, answer: Answer, counts: Callable[[str], str] = str) -> bool:
    """Free-running, all that counts in the output, and the end mark."""
    return answer.ended and counts(answer.free_running) == counts(sample.target)
