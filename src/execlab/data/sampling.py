"""Endless, repeatable samples of one split: the front door to everything that execlab generates.

A `Source` says what is wanted; its row `i` depends on the Source and `i` alone, never on how many rows are asked for or
in which order. Rows are drawn in blocks of 64 that share a generator (setting one up costs as much as a program).

>>> from execlab.tasks.addition import AdditionTask
>>> source = Source(AdditionTask(), Difficulty(3), split="test", seed=7)
>>> [row.sample for row in source.rows(stop=2)]
[Sample(input='print(321+386)', target='707'), Sample(input='print(669+734)', target='1403')]
>>> source.row(1) == list(source.rows(stop=200))[1]
True
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from execlab.curriculum.paper import Baseline, Mix
from execlab.data.scramble import scramble
from execlab.data.splits import DATA_VERSION, SPLITS, Split, split_of_canonical
from execlab.data.vocabulary import vocabulary_with
from execlab.errors import ExeclabError, unknown
from execlab.options import options_of
from execlab.randomness import stream
from execlab.tasks import Difficulty, Sample, Task, check_difficulty

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

BLOCK = 64
MAX_TRIES = 10_000
MAX_SEED = 2**63 - 1


class Row(NamedTuple):
    """One sample of a Source and the difficulty that was drawn for it."""

    number: int
    difficulty: Difficulty
    sample: Sample


@dataclass(frozen=True)
class Source:
    """Which samples: task and options, goal, strategy (`baseline` or `mix`), split (None: all), seed, scrambling."""

    task: Task
    goal: Difficulty
    split: Split | None = "train"
    seed: int = 0
    strategy: str = "baseline"
    scramble: int | None = None
    purpose: str = "sample"  # sources that differ in this alone are independent

    def __post_init__(self) -> None:
        check_difficulty(self.task, self.goal)
        if self.split is not None and self.split not in SPLITS:
            raise unknown("split", self.split, SPLITS)
        if self.strategy not in STATIC_STRATEGIES:
            raise unknown("strategy without a training run", self.strategy, STATIC_STRATEGIES)
        for name, seed in (("seed", self.seed), ("scramble", self.scramble or 0)):
            if not 0 <= seed <= MAX_SEED:
                raise ExeclabError(f"{name} is {seed}; it must be from 0 to 2^63 - 1")

    def rows(self, start: int = 0, stop: int | None = None) -> Iterator[Row]:
        """The rows from `start` on, without end unless `stop` is given."""
        index = start
        while stop is None or index < stop:
            for row in self.block(index // BLOCK)[index % BLOCK :]:
                if index == stop:
                    return
                yield row
                index += 1

    def row(self, index: int) -> Row:
        """Row `index`."""
        return self.block(index // BLOCK)[index % BLOCK]

    def block(self, number: int) -> list[Row]:
        """Rows 64 * number to 64 * number + 63."""
        rng = self._stream(number)
        strategy, vocabulary = STATIC_STRATEGIES[self.strategy](self.goal), vocabulary_with(self.task.symbols)
        rows = []
        for index in range(number * BLOCK, (number + 1) * BLOCK):
            # The difficulty is drawn once: a split that is rare at some difficulty must not shift the mixture.
            difficulty = strategy.draw(rng)
            plain = draw_sample(self.task, rng, difficulty, self.split)
            sample = self.task.render(plain)
            if self.scramble is not None:
                sample = scramble(self.scramble, sample, vocabulary)
            rows.append(Row(index, difficulty, sample))
        return rows

    def record(self, row: Row) -> dict[str, object]:
        """A row as the JSON object that `sample --jsonl` and `export` write."""
        return {
            "task": self.task.name,
            "length": row.difficulty.length,
            "nesting": row.difficulty.nesting,
            "split": self.split,
            "seed": self.seed,
            "index": row.number,
            "input": row.sample.input,
            "target": row.sample.target,
            "options": self.options,
            "data_version": DATA_VERSION,
        }

    @property
    def options(self) -> dict[str, object]:
        """Everything else that was asked for."""
        return {**shown_options(self.task), "strategy": self.strategy, "scramble": self.scramble}

    def _stream(self, block: int) -> Random:
        # Layout, invert, double and scramble change only how a sample is written: with and without them row i is the
        # same one.
        key = (self.task.name, self.task.variant, *self.goal, self.strategy)
        return stream(self.seed, self.split or "", self.purpose, block, *key)


# Those that need no scores, and so no training run.
STATIC_STRATEGIES: dict[str, type[Baseline] | type[Mix]] = {"baseline": Baseline, "mix": Mix}


def shown_options(task: Task) -> dict[str, object]:
    """A task's options for a record, without those that are left out while they have their default."""
    known = options_of(type(task))
    return {
        name: value for name, each in known.items() if (value := getattr(task, name)) != each.default or not each.quiet
    }


def draw_sample(task: Task, rng: Random, difficulty: Difficulty, split: Split | None) -> Sample:
    """A plain sample of this split, by drawing until one falls into it."""
    for _ in range(MAX_TRIES):
        sample = task.draw(rng, difficulty)
        if split is None or split_of_canonical(task.name, sample.canonical or task.canonical(sample.input)) == split:
            return sample
    raise ExeclabError(
        f"the {split} split of {task.name} at length {difficulty.length}, nesting {difficulty.nesting} seems empty: "
        f"{MAX_TRIES:,} draws found no sample of it"
    )
