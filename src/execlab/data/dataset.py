"""Samples as a dataset of questions and answers, for people who evaluate language models.

>>> dataset = create_dataset("addition", length=3, split="test", seed=0, size=1000)
>>> entry = dataset[0]
>>> entry["question"], entry["answer"]
('print(127+313)', '440')
>>> score_answer(" " + entry["answer"] + ".\\n", entry), score_answer(None, entry)
(1.0, 0.0)
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict, overload

from execlab.answers import extract_answer
from execlab.data.sampling import BLOCK, Row, Source
from execlab.data.vocabulary import END_MARK
from execlab.errors import ExeclabError
from execlab.randomness import stream
from execlab.tasks import Difficulty, Sample, check_difficulty, make_task

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execlab.data.splits import Split


class Entry(TypedDict):
    """A question, its answer, and where they come from."""

    question: str
    answer: str
    metadata: dict[str, Any]


def create_dataset(
    task: str,
    *,
    length: int,
    nesting: int = 1,
    split: Split = "train",
    seed: int = 0,
    size: int = 500,
    strategy: str = "baseline",
    scramble: int | None = None,
    **options: object,
) -> Dataset:
    """The first `size` samples of this description; options are those of the task (dialect, invert, ...)."""
    if size < 0:
        raise ExeclabError(f"size is {size}; it must be 0 or more")
    difficulty = Difficulty(length, nesting)
    source = Source(make_task(task, options), difficulty, split, seed, strategy, scramble)
    return Dataset(source, size)


class Dataset(Sequence[Entry]):
    """Entries by index; entry i is the same whatever the size and whoever asks."""

    def __init__(self, source: Source, size: int) -> None:
        self.source, self.size = source, size
        self._cached: tuple[int, list[Row]] = (-1, [])

    def __len__(self) -> int:
        return self.size

    @overload
    def __getitem__(self, index: int) -> Entry: ...
    @overload
    def __getitem__(self, index: slice) -> list[Entry]: ...
    def __getitem__(self, index: int | slice) -> Entry | list[Entry]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(self.size))]
        i = operator.index(index)
        if not -self.size <= i < self.size:
            raise IndexError(f"index {i} of a dataset of {self.size} entries")
        number, place = divmod(i % self.size, BLOCK)
        if self._cached[0] != number:
            self._cached = (number, self.source.block(number))
        return self._entry(self._cached[1][place])

    def __iter__(self) -> Iterator[Entry]:
        return map(self._entry, self.source.rows(stop=self.size))

    def __getstate__(self) -> tuple[Source, int]:
        return self.source, self.size

    def __setstate__(self, state: tuple[Source, int]) -> None:
        self.__init__(*state)  # type: ignore[misc]

    def _entry(self, row: Row) -> Entry:
        return to_entry(self.source, row)

    def score_answer(self, answer: str | None, entry: Mapping[str, Any]) -> float:
        """As the function of this name."""
        return score_answer(answer, entry)


def to_entry(source: Source, row: Row) -> Entry:
    """A row of a source as an entry."""
    record = source.record(row)
    return {"question": str(record.pop("input")), "answer": str(record.pop("target")), "metadata": record}


def score_answer(answer: str | None, entry: Mapping[str, Any]) -> float:
    """1.0 if a reply is the entry's answer, or `extract_answer` finds that answer in it; else 0.0."""
    if not isinstance(answer, str):
        return 0.0
    if answer == entry["answer"]:  # scrambled answers may hold spaces
        return 1.0
    alone = answer.strip().removesuffix(END_MARK).rstrip()
    return float(entry["answer"] in (alone, extract_answer(answer)))


def generate(task: str, *, length: int, nesting: int = 1, seed: int = 0, **options: object) -> Sample:
    """One sample, of any split."""
    made = make_task(task, options)
    difficulty = check_difficulty(made, Difficulty(length, nesting))
    return made.render(made.draw(stream(seed, "", "generate", 0), difficulty))
