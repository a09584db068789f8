"""Scrambled characters (the paper's Fig. 2): what a program looks like to somebody who knows no symbol beforehand.

A seeded permutation of the vocabulary, applied to input and target alike; newline and the end mark stay as they are.
(The paper's own printed example is not a consistent permutation: one symbol stands for two characters.)

>>> from execlab.tasks import Sample
>>> scrambled = scramble(3, Sample("i=8827\\nprint((i-5347))", "3480"))
>>> scrambled
Sample(input='d<++0-\\n9jd35ggdt7hx-aa', target='hx+)')
>>> unscramble(3, scrambled)
Sample(input='i=8827\\nprint((i-5347))', target='3480')
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from execlab.data.vocabulary import END_MARK, NEWLINE, VOCABULARY
from execlab.randomness import shuffled, stream

if TYPE_CHECKING:
    from execlab.tasks import Sample


def scramble(seed: int, sample: Sample, vocabulary: str = VOCABULARY) -> Sample:
    """The sample in the alphabet of this seed."""
    table = permutation(seed, vocabulary)
    return sample._replace(input=sample.input.translate(table), target=sample.target.translate(table))


def unscramble(seed: int, sample: Sample, vocabulary: str = VOCABULARY) -> Sample:
    """The inverse of `scramble`."""
    table = _inverse(seed, vocabulary)
    return sample._replace(input=sample.input.translate(table), target=sample.target.translate(table))


@lru_cache(maxsize=64)
def permutation(seed: int, vocabulary: str = VOCABULARY) -> dict[int, int]:
    """Where each character goes, as `str.translate` wants it."""
    movable = [character for character in vocabulary if character not in NEWLINE + END_MARK]
    return str.maketrans("".join(movable), "".join(shuffled(stream("scramble", seed), movable)))


@lru_cache(maxsize=64)
def _inverse(seed: int, vocabulary: str) -> dict[int, int]:
    return {there: here for here, there in permutation(seed, vocabulary).items()}
