"""The addition task (section 3.1): two numbers of exactly `length` digits.

>>> AdditionTask().solve("print(398345+425098)")
'823443'
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from execlab.programs import execute
from execlab.randomness import below
from execlab.tasks.task import Difficulty, Sample

if TYPE_CHECKING:
    from random import Random


@dataclass(frozen=True)
class AdditionTask:
    """Sums of two numbers."""

    name: ClassVar[str] = "addition"
    hardest: ClassVar[Difficulty] = Difficulty(length=50)
    is_python: ClassVar[bool] = True
    variant: ClassVar[str] = ""

    def draw(self, rng: Random, difficulty: Difficulty) -> Sample:
        """Two operands, each uniform among the positive integers of `length` digits."""
        # paper: also "[1, 10^length]"; but "two numbers of the same length ... doesn't need to align them"
        smallest = 10 ** (difficulty.length - 1)
        a, b = smallest + below(rng, 9 * smallest), smallest + below(rng, 9 * smallest)
        return Sample(f"print({a}+{b})", str(a + b))

    def modify(self, plain: str) -> str:
        """Nothing to modify."""
        return plain

    def plain(self, input: str) -> str:
        """Nothing to undo."""
        return input

    def solve(self, input: str) -> str:
        """What our interpreter prints."""
        return str(execute(input))
