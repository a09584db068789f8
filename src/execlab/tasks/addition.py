"""The addition task (section 3.1): two numbers of exactly `length` digits.

>>> AdditionTask().solve("print(398345+425098)")
'823443'
>>> AdditionTask().groups(Sample("print(95+17)", "112"))
{'carries': ['2'], 'longest_carry_chain': ['2']}
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from execlab.options import option
from execlab.programs import canonical, execute
from execlab.programs.forms import plus
from execlab.randomness import below
from execlab.tasks.task import Difficulty, Sample, Task, too_long

if TYPE_CHECKING:
    from random import Random


@dataclass(frozen=True)
class AdditionTask(Task):
    """Sums of two numbers."""

    name: ClassVar[str] = "addition"
    hardest: ClassVar[Difficulty] = Difficulty(length=50)
    is_python: ClassVar[bool] = True

    unequal: bool = option(False, "Addition: one number may be shorter than the other.", quiet=True)

    @property
    def variant(self) -> str:
        """Shorter numbers are other samples."""
        return "unequal" if self.unequal else ""

    def draw(self, rng: Random, difficulty: Difficulty) -> Sample:
        """Two operands, uniform among the positive integers of `length` digits; one may have fewer if `unequal`."""
        # paper: also "[1, 10^length]"; but "two numbers of the same length ... doesn't need to align them"
        lengths = [difficulty.length, difficulty.length]
        if self.unequal:
            lengths[below(rng, 2)] = 1 + below(rng, difficulty.length)
        a, b = (10 ** (digits - 1) + below(rng, 9 * 10 ** (digits - 1)) for digits in lengths)
        return Sample(f"print({a}+{b})", str(a + b), canonical=f"print({plus(str(a), str(b))})")

    def canonical(self, plain: str) -> str:
        """The unordered pair."""
        return canonical(plain)

    def solve(self, input: str) -> str:
        """What our interpreter prints."""
        return str(execute(input))

    def groups(self, sample: Sample) -> dict[str, list[str]]:
        """By how many digit places carry, and by the longest chain of carries."""
        flags = carry_flags(sample.input)
        longest = run = 0
        for flag in flags:
            run = run + 1 if flag else 0
            longest = max(longest, run)
        return {"carries": [str(sum(flags))], "longest_carry_chain": [str(longest)]}

    def describe(self, difficulty: Difficulty) -> str:
        """Digits."""
        return f"{difficulty.length} digits"

    def outside(self, input: str, goal: Difficulty) -> str | None:
        """Another form, or numbers of other lengths."""
        operands = re.fullmatch(r"print\(([1-9][0-9]*)\+([1-9][0-9]*)\)", input)
        if operands is None:
            return "it is no sum of two numbers, as print(12+34); the model was trained on nothing else"
        first, second = len(operands[1]), len(operands[2])
        if first != second and not self.unequal:
            return f"its numbers have {first} and {second} digits, and the model was trained on two of the same length"
        return too_long(input, goal.length, goal.length)


def carry_flags(input: str) -> list[bool]:
    """Whether each digit place of a sum carries, lowest first."""
    operands = re.fullmatch(r"print\(([0-9]+)\+([0-9]+)\)", input)
    if operands is None:
        return []
    width = max(len(operands[1]), len(operands[2]))
    flags, carry = [], 0
    for a, b in zip(reversed(operands[1].zfill(width)), reversed(operands[2].zfill(width)), strict=True):
        carry = int(a) + int(b) + carry >= 10
        flags.append(bool(carry))
    return flags
