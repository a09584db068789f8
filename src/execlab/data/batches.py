"""Training samples as arrays of characters: the paper's endless stream, or whole samples side by side.

Both feeds are functions of (seed, step, state of the strategy) alone: nothing of a feed needs saving, and a run that is
resumed reads what it would have read. For the stream that holds because a strategy changes only at evaluations, and a
segment of the stream lies between two of them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from execlab.data.sampling import draw_sample
from execlab.data.scramble import scramble
from execlab.data.vocabulary import END_MARK, VOCABULARY, vocabulary_with, with_end_marks
from execlab.randomness import stream
from execlab.tasks import Difficulty, Sample, Task, check_difficulty

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from execlab.curriculum import Strategy

NO_TARGET = -1


class Batch(NamedTuple):
    """What the model reads in a step and what it should say next; -1 where that does not count.

    The first characters of all rows stand first, then the second ones, and so on. Rows are ordered by length, so that
    those which have ended are the last ones, and nothing is padded.
    """

    ids: NDArray[np.int64]  # (N,)
    targets: NDArray[np.int64]  # (N,)
    batch_sizes: NDArray[np.int64]  # (T,): how many rows have a first character, a second, ...
    groups: NDArray[np.int64]  # (N,): the difficulty of each character's sample, as a place in `drawn`
    drawn: dict[Difficulty, int]  # how many samples of each difficulty end in this batch

    @property
    def samples(self) -> int:
        """How many samples end in this batch."""
        return sum(self.drawn.values())


Drawn = tuple[Difficulty, Sample]


@dataclass(frozen=True)
class Lesson:
    """What the training samples are: task, the strategy that picks their difficulty (by name, too), and the seed."""

    task: Task
    strategy: Strategy
    name: str  # of the strategy
    scramble: int | None = None
    seed: int = 0

    @property
    def vocabulary(self) -> str:
        """The characters of the task."""
        return vocabulary_with(self.task.symbols)

    def samples(self, feed: str, number: int, row: int) -> Iterator[Drawn]:
        """Endless samples of the train split, as the model shall see them, for one piece of a feed."""
        key = (self.task.name, self.name, *self.strategy.goal, *self.strategy.current)
        rng, vocabulary = stream(self.seed, "train", feed, number, row, *key), self.vocabulary
        while True:
            difficulty = check_difficulty(self.task, self.strategy.draw(rng))
            sample = self.task.render(draw_sample(self.task, rng, difficulty, "train"))
            yield difficulty, sample if self.scramble is None else scramble(self.scramble, sample, vocabulary)


@lru_cache(maxsize=16)
def _ids(vocabulary: str) -> NDArray[np.uint8]:
    table = np.full(128, 255, dtype=np.uint8)
    table[[ord(character) for character in vocabulary]] = np.arange(len(vocabulary))
    return table


def encode(text: str, vocabulary: str = VOCABULARY) -> NDArray[np.int64]:
    """Characters to ids."""
    return _ids(vocabulary)[np.frombuffer(text.encode("ascii"), dtype=np.uint8)].astype(np.int64)


def pack_texts(texts: Sequence[str], vocabulary: str = VOCABULARY) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Texts, longest first, as packed ids (N,) and batch sizes (T,)."""
    longest = len(texts[0])
    ids = encode("".join(text.ljust(longest, END_MARK) for text in texts), vocabulary).reshape(len(texts), longest)
    read = np.arange(longest) < np.array([len(text) for text in texts])[:, None]  # (B, T)
    return ids.T[read.T], read.sum(axis=0, dtype=np.int64)


def pack(rows: Sequence[Drawn], vocabulary: str = VOCABULARY) -> Batch:
    """Whole samples, one per row, longest first."""
    rows = sorted(rows, key=lambda row: -len(row[1].input) - len(row[1].target))
    samples = [sample for _, sample in rows]
    texts = [with_end_marks(sample.input, sample.target) for sample in samples]
    longest = len(texts[0])
    ids = encode("".join(text.ljust(longest, END_MARK) for text in texts), vocabulary).reshape(len(texts), longest)
    starts = np.array([len(sample.input) for sample in samples])[:, None]  # the input's end mark asks for output
    lengths = np.array([len(text) - 1 for text in texts])[:, None]  # the last character is predicted, never read
    place = np.arange(longest - 1)
    read = place < lengths  # (B, T)
    targets = np.where(place >= starts, ids[:, 1:], NO_TARGET)
    drawn = dict(sorted(Counter(difficulty for difficulty, _ in rows).items()))
    number = {difficulty: i for i, difficulty in enumerate(drawn)}
    groups = np.array([number[difficulty] for difficulty, _ in rows])[:, None].repeat(longest - 1, 1)
    sizes = read.sum(axis=0, dtype=np.int64)
    return Batch(ids[:, :-1].T[read.T], targets.T[read.T], sizes, groups.T[read.T], drawn)


class AlignedFeed:
    """Whole samples, each from a zero state.

    A batch mixes all difficulties. Batches of one length each would need no padding either, but learned far worse
    (docs/log.md).
    """

    carries_state = False

    def __init__(self, lesson: Lesson, batch: int) -> None:
        self.lesson, self.rows = lesson, batch

    def batch(self, step: int) -> Batch:
        """The batch of this step."""
        endless = self.lesson.samples("aligned", step, 0)
        return pack([next(endless) for _ in range(self.rows)], self.lesson.vocabulary)


class StreamFeed:
    """The paper's feed: every row an endless sequence of samples, cut into windows; the hidden state is carried over.

    A segment of the stream is what lies between two evaluations. A sample that would not fit into the rest of its
    segment is left out, and that rest is filled with end marks that do not count.
    """

    carries_state = True

    def __init__(self, lesson: Lesson, batch: int, window: int, segment: int) -> None:
        self.lesson, self.rows, self.window, self.segment = lesson, batch, window, segment
        self._place: tuple[int, Difficulty] | None = None  # where the rows below are
        self._reading: list[_Row] = []

    def batch(self, step: int) -> Batch:
        """The windows of this step."""
        current = self.lesson.strategy.current
        if self._place != (step, current) or step % self.segment == 0:
            segment, ahead = divmod(step, self.segment)
            size = self.segment * self.window
            self._reading = [_Row(self.lesson.samples("stream", segment, row), size) for row in range(self.rows)]
            for row in self._reading:
                row.take(ahead * self.window)
        taken = [row.take(self.window) for row in self._reading]
        self._place = step + 1, current
        ids = encode("".join(text for text, _, _ in taken), self.lesson.vocabulary).reshape(self.rows, self.window + 1)
        marks = np.frombuffer(b"".join(marks for _, marks, _ in taken), np.uint8).reshape(self.rows, self.window)
        targets = np.where(marks > 0, ids[:, 1:], NO_TARGET)
        whose = [difficulty for _, _, row in taken for difficulty in row]
        number = {difficulty: i for i, difficulty in enumerate(sorted(set(whose)))}
        groups = np.array([number[difficulty] for difficulty in whose]).reshape(self.rows, self.window)
        ended = np.bincount(groups[marks == 2], minlength=len(number)).tolist()
        drawn = dict(zip(number, ended, strict=True))
        sizes = np.full(self.window, self.rows, np.int64)
        return Batch(ids[:, :-1].T.ravel(), targets.T.ravel(), sizes, groups.T.ravel(), drawn)


class _Row:
    """One row of a segment: text, marks that say where the next character counts, and whose sample it is.

    A mark is 0 where the next character does not count, 1 where it does, and 2 where it also ends the sample.
    """

    def __init__(self, samples: Iterator[Drawn], size: int) -> None:
        self.samples, self.left = samples, size
        self.text, self.marks = "", b""
        self.whose: list[Difficulty] = []

    def take(self, count: int) -> tuple[str, bytes, list[Difficulty]]:
        """The next characters with the one after them, their marks and their difficulties."""
        while len(self.text) <= count:
            difficulty, sample = next(self.samples) if self.left else (self.whose[-1], None)
            length = len(sample.input) + len(sample.target) + 2 if sample else 0
            if sample is None or length > self.left:
                # The rest of the segment, and the character after it, which never counts.
                self.text += END_MARK * (self.left + 1)
                self.marks += b"\0" * (self.left + 1)
                self.whose += [difficulty] * (self.left + 1)
                self.left = 0
                continue
            self.left -= length
            self.text += with_end_marks(sample.input, sample.target)
            self.marks += b"\0" * len(sample.input) + b"\1" * len(sample.target) + b"\2" + b"\0"
            self.whose += [difficulty] * length
        text, marks, whose = self.text[: count + 1], self.marks[:count], self.whose[:count]
        self.text, self.marks, self.whose = self.text[count:], self.marks[count:], self.whose[count:]
        return text, marks, whose
