"""The memorization task (section 3.2): read digits, print them; the input may be inverted, doubled, or both.

>>> task = MemorizationTask(invert=True, double=True)
>>> task.render(Sample("12345", "12345")).input
'54321;54321'
>>> task.solve("54321;54321")
'12345'
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from execlab.errors import ExeclabError
from execlab.options import option
from execlab.randomness import below
from execlab.tasks.task import Difficulty, Sample, Task, too_long

if TYPE_CHECKING:
    from random import Random

SEPARATOR = ";"


@dataclass(frozen=True)
class MemorizationTask(Task):
    """Strings of digits, every digit uniform."""

    name: ClassVar[str] = "memorization"
    hardest: ClassVar[Difficulty] = Difficulty(length=200)

    invert: bool = option(False, "Memorization: reverse the input.")
    double: bool = option(False, "Memorization: write the input twice.")

    @property
    def modification(self) -> str:
        """The paper's four ways to write the input."""
        words = ["doubled"] * self.double + ["inverted"] * self.invert
        return " and ".join(words) or "plain"

    def draw(self, rng: Random, difficulty: Difficulty) -> Sample:
        """`length` digits, leading zeros included."""
        digits = str(below(rng, 10**difficulty.length)).zfill(difficulty.length)
        return Sample(digits, digits)

    def render(self, sample: Sample) -> Sample:
        """The input inverted first, then doubled."""
        # paper: silent on the order; the two orders give the same text
        text = sample.input[::-1] if self.invert else sample.input
        return sample._replace(input=f"{text}{SEPARATOR}{text}" if self.double else text)

    def plain(self, input: str) -> str:
        """The digits in the order in which they are to be printed."""
        return self.solve(input)

    def solve(self, input: str) -> str:
        """Undo double, then invert."""
        text, separator, again = input.partition(SEPARATOR)
        if self.double and (not separator or again != text):
            raise ExeclabError(f"a doubled input is the same digits twice with {SEPARATOR!r} between, as in 12;12")
        if not re.fullmatch("[0-9]{1,200}", text) or (separator and not self.double):
            raise ExeclabError("the input of memorization is 1 to 200 digits")
        return text[::-1] if self.invert else text

    def describe(self, difficulty: Difficulty) -> str:
        """Digits."""
        return f"{difficulty.length} digits"

    def outside(self, input: str, goal: Difficulty) -> str | None:
        """More digits."""
        return too_long(input, goal.length, goal.length)
