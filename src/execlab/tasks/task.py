"""What every task is: it draws samples of a difficulty, and it knows the truth about any input.

A task's options are fields of its frozen dataclass. Most change only how a sample is written (a layout, an inverted
input): `draw` gives the plain sample, `render` writes it as the options say, and `plain` undoes that. What changes the
sample itself (a dialect) is the task's `variant`.

A sample's split is decided on its canonical form: what it shares with samples that differ from it only in something
that does not matter, such as the names of variables. They all are in one split.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from execlab.errors import ExeclabError

if TYPE_CHECKING:
    from random import Random


class Sample(NamedTuple):
    """What the model reads and what it should print, without end marks."""

    input: str
    target: str
    operations: tuple[str, ...] = ()  # what the generator built it from, for tables of errors
    canonical: str = ""  # what its split is decided on, where `draw` knows it; else `Task.canonical` says
    tree: tuple[Any, ...] = ()  # a program as the interpreter walks it, where `draw` knows it

    def __repr__(self) -> str:
        return f"Sample(input={self.input!r}, target={self.target!r})"


class Difficulty(NamedTuple):
    """The paper's two dials: digits per integer, and operations per program."""

    length: int
    nesting: int = 1


class Task(ABC):
    """The contract of a task; `TASKS` lists the built-in ones. Only the first three methods must be defined."""

    name: ClassVar[str]  # part of what decides a sample's split
    hardest: ClassVar[Difficulty]
    is_python: ClassVar[bool] = False  # whether CPython can run its inputs
    symbols: ClassVar[str] = ""  # characters that it needs beyond the shared vocabulary
    outputs: ClassVar[str] = "0123456789"  # what a target is written with

    @abstractmethod
    def draw(self, rng: Random, difficulty: Difficulty) -> Sample:
        """A plain sample, before its options rewrite it."""

    @abstractmethod
    def solve(self, input: str) -> str:
        """The true target of any (rendered) input, computed independently of how samples are drawn."""

    def target_of(self, output: str) -> str:
        """The answer to an input for which CPython prints this output; only of tasks that are Python."""
        return output

    @property
    def variant(self) -> str:
        """Tells apart what is drawn under different options; empty if nothing does."""
        return ""

    @property
    def modification(self) -> str:
        """What is done to its samples, in words, for tables that compare it; empty if there is nothing to compare."""
        return ""

    def render(self, sample: Sample) -> Sample:
        """A plain sample as the model shall read and print it."""
        return sample

    def plain(self, input: str) -> str:
        """The plain input behind a rendered one."""
        return input

    def parts(self, printed: str) -> list[str]:
        """What a model printed, in parts: the work, if the task asks for it, and last the answer."""
        return [printed]

    def canonical(self, plain: str) -> str:
        """The canonical form of a plain input: the same for all inputs that must be in one split.

        `draw` may hand it over in `Sample.canonical`; where it does not, this method is asked.
        """
        return plain

    def answer(self, printed: str) -> str:
        """What counts in what a model printed."""
        return self.parts(printed)[-1]

    def groups(self, sample: Sample) -> dict[str, list[str]]:
        """Tables of errors that a sample belongs to, and its rows there: {"carries": ["2"]}."""
        del sample
        return {}

    def describe(self, difficulty: Difficulty) -> str:
        """A difficulty in words."""
        return f"length {difficulty.length}" + f", nesting {difficulty.nesting}" * (self.hardest.nesting > 1)

    def outside(self, input: str, goal: Difficulty) -> str | None:
        """In which way a plain input is harder than anything up to the goal; None if it is not."""
        del input, goal
        return None


def check_difficulty(task: Task, difficulty: Difficulty) -> Difficulty:
    """The difficulty, if the task allows it."""
    for field in Difficulty._fields:
        value, highest = getattr(difficulty, field), getattr(task.hardest, field)
        if not 1 <= value <= highest:
            allowed = f"it must be from 1 to {highest}" if highest > 1 else "it can only be 1"
            raise ExeclabError(f"{field} is {value} for the task {task.name}, but {allowed}")
    return difficulty


def longest_number(text: str) -> int:
    """How many digits stand in a row at most.

    >>> longest_number("print(123+4567)")
    4
    """
    longest = run = 0
    for character in text:
        run = run + 1 if character in "0123456789" else 0
        longest = max(longest, run)
    return longest


def too_long(text: str, allowed: int, trained: int) -> str | None:
    """A sentence if a text has more digits in a row than allowed."""
    digits = longest_number(text)
    return f"it has {digits} digits in a row, and the model was trained on {trained}" if digits > allowed else None
