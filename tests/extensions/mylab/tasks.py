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
        name, best = ("min", min) if self.smallest else ("max", max)
        return Sample(f"{name}({','.join(map(str, numbers))})", str(best(numbers)))

    def solve(self, input):
        """The truth about any input, from its text alone."""
        parts = re.fullmatch(r"(max|min)\((\d{1,9}(?:,\d{1,9})+)\)", input, re.ASCII)
        if parts is None:
            raise ExeclabError(f"{input[:40]!r} is not of the form max(38,7,61)")
        numbers = [int(number) for number in parts[2].split(",")]
        return str(min(numbers) if parts[1] == "min" else max(numbers))

    def groups(self, sample):
        """A row in a table of errors: how many numbers there are."""
        return {"numbers": [str(sample.input.count(",") + 1)]}
