"""Training samples as arrays of characters: the paper's endless stream, or whole samples side by side.

Both feeds are functions of (seed, step, current difficulty) alone: nothing of a feed needs saving, and a run that is
resumed reads what it would have read. For the stream that holds because the difficulty moves only at evaluations, and a
segment of the stream lies between two of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from execlab.curriculum import STRATEGIES, combined
from execlab.data.sampling import draw_sample
from execlab.data.scramble import scramble
from execlab.data.vocabulary import END_MARK, VOCABULARY, with_end_marks
from execlab.randomness import stream
from execlab.tasks import Difficulty, Sample, Task

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from random import Random

    from numpy.typing import NDArray

NO_TARGET = -1
_IDS = np.full(128, 255, dtype=np.uint8)
_IDS[[ord(character) for character in VOCABULARY]] = np.arange(len(VOCABULARY))


class Batch(NamedTuple):
    """What the model reads in a step and what it should say next; -1 where that does not count.

    The first characters of all rows stand first, then the second ones, and so on. Rows are ordered by length, so that
    those which have ended are the last ones, and nothing is padded.
    """

    ids: NDArray[np.int64]  # (N,)
    targets: NDArray[np.int64]  # (N,)
    batch_sizes: NDArray[np.int64]  # (T,): how many rows have a first character, a second, ...
    samples: int  # that end in this batch


@dataclass(frozen=True)
class Lesson:
    """What the training samples are: task and goal, the strategy that picks their difficulty, and the seed."""

    task: Task
    goal: Difficulty
    strategy: str
    mix_share: float = 0.2
    scramble: int | None = None
    seed: int = 0

    def samples(self, rng: Random, current: Difficulty) -> Iterator[Sample]:
        """Endless samples of the train split, as the model shall see them."""
        draw = partial(combined, mix_share=self.mix_share) if self.strategy == "combined" else STRATEGIES[self.strategy]
        while True:
            plain = draw_sample(self.task, rng, draw(rng, current, self.goal), "train")
            sample = Sample(self.task.modify(plain.input), plain.target)
            yield sample if self.scramble is None else scramble(self.scramble, sample)

    def stream(self, feed: str, number: int, row: int, current: Difficulty) -> Random:
        """The generator of one piece of a feed."""
        return stream(self.seed, "train", feed, number, row, self.task.name, self.strategy, *self.goal, *current)


def encode(text: str) -> NDArray[np.int64]:
    """Characters to ids."""
    return _IDS[np.frombuffer(text.encode("ascii"), dtype=np.uint8)].astype(np.int64)


def pack_texts(texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Texts, longest first, as packed ids (N,) and batch sizes (T,)."""
    longest = len(texts[0])
    ids = encode("".join(text.ljust(longest, END_MARK) for text in texts)).reshape(len(texts), longest)
    read = np.arange(longest) < np.array([len(text) for text in texts])[:, None]  # (B, T)
    return ids.T[read.T], read.sum(axis=0, dtype=np.int64)


def pack(samples: Sequence[Sample]) -> Batch:
    """Whole samples, one per row, longest first."""
    samples = sorted(samples, key=lambda sample: -len(sample.input) - len(sample.target))
    texts = [with_end_marks(*sample) for sample in samples]
    longest = len(texts[0])
    ids = encode("".join(text.ljust(longest, END_MARK) for text in texts)).reshape(len(texts), longest)
    starts = np.array([len(sample.input) for sample in samples])[:, None]  # the input's end mark asks for output
    lengths = np.array([len(text) - 1 for text in texts])[:, None]  # the last character is predicted, never read
    place = np.arange(longest - 1)
    read = place < lengths  # (B, T)
    targets = np.where(place >= starts, ids[:, 1:], NO_TARGET)
    return Batch(ids[:, :-1].T[read.T], targets.T[read.T], read.sum(axis=0, dtype=np.int64), len(samples))


class AlignedFeed:
    """Whole samples, each from a zero state.

    A batch mixes all difficulties. Batches of one length each would need no padding either, but learned far worse
    (docs/log.md).
    """

    carries_state = False

    def __init__(self, lesson: Lesson, batch: int) -> None:
        self.lesson, self.rows = lesson, batch

    def batch(self, step: int, current: Difficulty) -> Batch:
        """The batch of this step."""
        endless = self.lesson.samples(self.lesson.stream("aligned", step, 0, current), current)
        return pack([next(endless) for _ in range(self.rows)])


class StreamFeed:
    """The paper's feed: every row an endless sequence of samples, cut into windows; the hidden state is carried over.

    A segment of the stream is what lies between two evaluations. A sample that would not fit into the rest of its
    segment is left out, and that rest is filled with end marks that do not count.
    """

    carries_state = True

    def __init__(self, lesson: Lesson, batch: int, window: int, segment: int) -> None:
        self.lesson, self.rows, self.window, self.segment = lesson, batch, window, segment
        self._place: tuple[int, Difficulty] | None = None
        self._reading: list[_Row] = []

    def batch(self, step: int, current: Difficulty) -> Batch:
        """The windows of this step."""
        if self._place != (step, current) or step % self.segment == 0:
            number, ahead = divmod(step, self.segment)
            size = self.segment * self.window
            self._reading = [
                _Row(self.lesson.samples(self.lesson.stream("stream", number, row, current), current), size)
                for row in range(self.rows)
            ]
            for row in self._reading:
                row.take(ahead * self.window)
        taken = [row.take(self.window) for row in self._reading]
        self._place = step + 1, current
        ids = encode("".join(text for text, _, _ in taken)).reshape(self.rows, self.window + 1)
        counts = np.array([list(marks) for _, marks, _ in taken], dtype=np.uint8).astype(bool)
        targets = np.where(counts, ids[:, 1:], NO_TARGET)
        ended = sum(ends for _, _, ends in taken)
        return Batch(ids[:, :-1].T.ravel(), targets.T.ravel(), np.full(self.window, self.rows, np.int64), ended)


class _Row:
    """One row of a segment: text, and beside it marks that say where the next character counts."""

    def __init__(self, samples: Iterator[Sample], size: int) -> None:
        self.samples, self.left = samples, size
        self.text, self.marks = "", b""

    def take(self, count: int) -> tuple[str, bytes, int]:
        """The next characters with the one after them, the marks, and how many samples end there."""
        while len(self.text) <= count:
            sample = next(self.samples) if self.left else None
            length = len(sample.input) + len(sample.target) + 2 if sample else 0
            if sample is None or length > self.left:
                # The rest of the segment, and the character after it, which never counts.
                self.text += END_MARK * (self.left + 1)
                self.marks += b"\0" * (self.left + 1)
                self.left = 0
                continue
            self.left -= length
            self.text += with_end_marks(*sample)
            self.marks += b"\0" * len(sample.input) + b"\1" * len(sample.target) + b"\2" + b"\0"
        text, marks = self.text[: count + 1], self.marks[:count]
        self.text, self.marks = self.text[count:], self.marks[count:]
        return text, marks, marks.count(b"\2")
