"""The largest of some numbers."""

import re
from dataclasses import dataclass

from execlab.errors import ExeclabError
from execlab.options import option
from execlab.randomness import below
from execlab.tasks import Difficulty, Sample, Task


@dataclass(frozen=True)
class Maximum(Task):
    """max(38,7,61) prints 61. Length is the digits of a number; nesting n gives n + 1 numbers."""

    name = "maximum"
    hardest = Difficulty(9, 5)
    symbols = "m,"  # characters that the shared vocabulary lacks

    smallest: bool = option(False, "Ask for the smallest number instead.")

    @property
    def variant(self):
        """Other options draw other samples."""
        return "smallest" if self.smallest else ""

    def draw(self, rng, difficulty):
        """Numbers of up to `length` digits."""
        numbers = [below(rng, 10**difficulty.length) for _ in range(difficulty.nesting + 1)]
        word = "min" if self.smallest else "max"
        text = f"{word}({','.join(map(str, numbers))})"
        return Sample(text, self.solve(text))

    def solve(self, input):
        """The truth about any input."""
        if not re.fullmatch(r"(max|min)\(\d+(,\d+)+\)", input, re.ASCII):
            raise ExeclabError(f"{input[:40]!r} is not of the form max(38,7,61)")
        numbers = [int(number) for number in re.findall(r"\d+", input)]
        return str(min(numbers) if input.startswith("min") else max(numbers))

    def groups(self, sample):
        """A table of errors by how many numbers there are."""
        return {"numbers": [str(sample.input.count(",") + 1)]}
