"""Two models on identical samples: the difference of their accuracies, with its interval.

The interval is Newcombe's hybrid score interval for paired shares (1998, his method 10). It is built from the Wilson
intervals of both accuracies and from how much the models' errors fall on the same samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

from execlab.evaluation.scores import effective_number, is_right, matches, ratio, residuals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execlab.evaluation.evaluate import Evaluation
    from execlab.evaluation.scores import Scores


class Difference(NamedTuple):
    """A difference of two accuracies with its 95 % interval, which never leaves [-1, 1]."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Compared:
    """A run beside the first one of a comparison."""

    run: str
    scores: Scores
    teacher_forced_difference: Difference
    exact_match_difference: Difference

    def to_json(self) -> dict[str, Any]:
        """Scores and differences side by side."""
        return {
            "run": self.run,
            **{name: score._asdict() for name, score in self.scores._asdict().items()},
            "teacher_forced_difference": self.teacher_forced_difference._asdict(),
            "exact_match_difference": self.exact_match_difference._asdict(),
        }


def paired(ours: Sequence[int], theirs: Sequence[int], total: Sequence[int]) -> Difference:
    """The first accuracy minus the second: right characters of each sample in both, and how many it has.

    >>> paired([1, 1, 0, 1], [0, 1, 0, 1], [1, 1, 1, 1])
    Difference(value=0.25, low=-0.31..., high=0.65...)
    """
    first, second = ratio(ours, total), ratio(theirs, total)
    phi = _correlation(ours, theirs, total)
    value = first.value - second.value
    below = _combined(first.value - first.low, second.high - second.value, phi)
    above = _combined(first.high - first.value, second.value - second.low, phi)
    return Difference(value, max(-1.0, value - below), min(1.0, value + above))


def _combined(first: float, second: float, phi: float) -> float:
    """The length of the difference of two distances that are correlated."""
    return sqrt(max(0.0, first * first - 2 * phi * first * second + second * second))


def _correlation(ours: Sequence[int], theirs: Sequence[int], total: Sequence[int]) -> float:
    """Whether the two err on the same samples; a positive correlation with Newcombe's continuity correction."""
    rests = residuals(ours, total), residuals(theirs, total)
    spread = sqrt(sum(a * a for a in rests[0]) * sum(b * b for b in rests[1]))
    shares = [sum(right) / sum(total) for right in (ours, theirs)]
    product = sqrt(shares[0] * (1 - shares[0]) * shares[1] * (1 - shares[1]))
    if not spread or not product:  # one of them is all right, all wrong, or the same everywhere
        return 0.0
    phi = max(-1.0, min(1.0, sum(a * b for a, b in zip(*rests, strict=True)) / spread))
    fewer = min(effective_number(ours, total), effective_number(theirs, total))
    return phi if phi <= 0 else max(0.0, phi - 1 / (2 * fewer * product))


def differences(model: Evaluation, first: Evaluation) -> tuple[Difference, Difference]:
    """Teacher-forced accuracy and exact match of a model against the first; their targets are the same."""
    both = [list(zip(result.samples, result.answers, strict=True)) for result in (model, first)]
    forced, reference = ([matches(a.teacher_forced, s.target) for s, a in pairs] for pairs in both)
    whole, whole_reference = ([int(is_right(s, a)) for s, a in pairs] for pairs in both)
    lengths = [len(sample.target) + 1 for sample in model.samples]
    return paired(forced, reference, lengths), paired(whole, whole_reference, [1] * len(lengths))
