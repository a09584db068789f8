"""What every task is: it draws samples of a difficulty, and it knows the truth about any input.

A task's options are fields of its frozen dataclass. Most change only how a sample is written (a layout, an inverted
input): `draw` gives the plain sample, `modify` writes its input as the options say, and `plain` undoes that. What
changes the sample itself (a dialect) is the task's `variant`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol

from execlab.errors import ExeclabError

if TYPE_CHECKING:
    from random import Random


class Sample(NamedTuple):
    """What the model reads and what it should print, without end marks."""

    input: str
    target: str


class Difficulty(NamedTuple):
    """The paper's two dials: digits per integer, and operations per program."""

    length: int
    nesting: int = 1


class Task(Protocol):
    """The contract of a task; `TASKS` lists them all."""

    name: ClassVar[str]
    hardest: ClassVar[Difficulty]
    is_python: ClassVar[bool]  # whether CPython can run its inputs

    @property
    def variant(self) -> str:
        """Tells apart what is drawn under different options; empty if nothing does."""

    def draw(self, rng: Random, difficulty: Difficulty) -> Sample:
        """A plain sample, before any modification."""

    def modify(self, plain: str) -> str:
        """A plain input as the model shall read it."""

    def plain(self, input: str) -> str:
        """The inverse of `modify`: what the split is decided on."""

    def solve(self, input: str) -> str:
        """The true target of any (modified) input, found independently of how samples are drawn."""


def check_difficulty(task: Task, difficulty: Difficulty) -> Difficulty:
    """The difficulty, if the task allows it."""
    for field in Difficulty._fields:
        value, highest = getattr(difficulty, field), getattr(task.hardest, field)
        if not 1 <= value <= highest:
            allowed = f"it must be from 1 to {highest}" if highest > 1 else "it can only be 1"
            raise ExeclabError(f"{field} is {value} for the task {task.name}, but {allowed}")
    return difficulty
