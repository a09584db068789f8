"""What can be guessed without understanding: the paper's output-character statistics (section 3), and sample lengths.

>>> from execlab.tasks import Sample
>>> guesses = most_frequent([Sample("", "12"), Sample("", "12"), Sample("", "3")])
>>> guesses
['1', '2', '.']
>>> guess_accuracy(guesses, [Sample("", "15")])
0.6666666666666666
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from execlab.data.vocabulary import END_MARK, with_end_marks
from execlab.tasks import Difficulty

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from execlab.data.sampling import Source
    from execlab.tasks import Sample


@dataclass(frozen=True)
class Share:
    """A character and how often it stands there, in per cent."""

    character: str
    percent: float


@dataclass(frozen=True)
class OutputStatistics:
    """The numbers of section 3, and the length of samples as the model reads them."""

    samples: int
    mean_length: float
    max_length: int
    most_common: Share  # of all output characters, the end mark not counted
    most_common_with_end: Share  # of the same, the end mark counted
    first: Share
    second_first: Share | None
    before_end: Share  # the most common digit right before the end mark
    guess_percent: float  # accuracy of the most frequent character per position, learned on train, scored on test

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return asdict(self)


# The paper prints these for 10,000 programs at length 4, nesting 1.
PAPER = {
    "most_common": Share("1", 12.7),
    "first": Share("1", 20.3),
    "second_first": Share("?", 12.6),
    "before_end": Share("4", 10.3),
}

# Mean and maximum of a sample's characters, read off the released generator.
RELEASED_LENGTHS = {
    Difficulty(1, 1): (22, 42),
    Difficulty(4, 1): (31, 51),
    Difficulty(4, 3): (57, 113),
    Difficulty(6, 1): (37, 57),
    Difficulty(6, 3): (67, 124),
    Difficulty(8, 4): (95, 173),
}

# What `execlab stats` shows when no difficulty is asked for: the paper's settings, or else some lengths.
SETTINGS = {"program": list(RELEASED_LENGTHS), "memorization": [Difficulty(5), Difficulty(35), Difficulty(65)]}
OTHER_SETTINGS = [Difficulty(3), Difficulty(6), Difficulty(9)]


def output_statistics(source: Source, count: int) -> OutputStatistics:
    """Statistics over `count` samples of every split together."""
    lengths, characters = [], Counter[str]()
    first, before_end = Counter[str](), Counter[str]()
    for row in replace(source, split=None).rows(stop=count):
        target = row.sample.target
        lengths.append(len(with_end_marks(row.sample.input, row.sample.target)))
        characters.update(target)
        first[target[0]] += 1
        before_end[target[-1]] += 1
    shares, total = _shares(first), characters.total()
    common = max(characters, key=characters.__getitem__)
    return OutputStatistics(
        samples=count,
        mean_length=sum(lengths) / count,
        max_length=max(lengths),
        most_common=Share(common, 100 * characters[common] / total),
        most_common_with_end=Share(common, 100 * characters[common] / (total + count)),
        first=shares[0],
        second_first=shares[1] if len(shares) > 1 else None,
        before_end=_shares(before_end)[0],
        guess_percent=100
        * guess_accuracy(
            most_frequent(row.sample for row in replace(source, split="train").rows(stop=count)),
            (row.sample for row in replace(source, split="test").rows(stop=count)),
        ),
    )


def most_frequent(samples: Iterable[Sample]) -> list[str]:
    """The most frequent output character at each position, the end mark being one; ties go to the smaller."""
    positions: list[Counter[str]] = []
    for sample in samples:
        for i, character in enumerate(sample.target + END_MARK):
            if i == len(positions):
                positions.append(Counter())
            positions[i][character] += 1
    return [min(counts, key=lambda c: (-counts[c], c)) for counts in positions]


def guess_accuracy(guesses: Sequence[str], samples: Iterable[Sample]) -> float:
    """The share of output characters that these guesses, one per position, get right."""
    right = total = 0
    for sample in samples:
        text = sample.target + END_MARK
        right += sum(a == b for a, b in zip(guesses, text, strict=False))
        total += len(text)
    return right / total


def _shares(counts: Counter[str]) -> list[Share]:
    total = counts.total()
    return [Share(c, 100 * n / total) for c, n in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]
