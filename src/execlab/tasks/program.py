"""The program task (the paper's section 3): read a program, print its output.

>>> ProgramTask().solve("e=6653\\nfor x in range(14):e+=6311\\nprint(e)")
'95007'
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from execlab.errors import unknown
from execlab.programs import DIALECTS, LAYOUTS, Dialect, Layout, execute, generate_program
from execlab.programs.layout import join_loops
from execlab.tasks.task import Difficulty, Sample

if TYPE_CHECKING:
    from random import Random


@dataclass(frozen=True)
class ProgramTask:
    """Programs of one dialect in one layout."""

    name: ClassVar[str] = "program"
    hardest: ClassVar[Difficulty] = Difficulty(length=50, nesting=10)
    is_python: ClassVar[bool] = True

    dialect: Dialect = "released"
    layout: Layout = "line"

    def __post_init__(self) -> None:
        if self.dialect not in DIALECTS:
            raise unknown("dialect", self.dialect, DIALECTS)
        if self.layout not in LAYOUTS:
            raise unknown("layout", self.layout, LAYOUTS)

    @property
    def variant(self) -> str:
        """The dialect."""
        return self.dialect

    def draw(self, rng: Random, difficulty: Difficulty) -> Sample:
        """A program with one-line loops."""
        text, value, _ = generate_program(rng, difficulty.length, difficulty.nesting, self.dialect)
        return Sample(text, str(value))

    def modify(self, plain: str) -> str:
        """In the layout of this task."""
        return LAYOUTS[self.layout](plain)

    def plain(self, input: str) -> str:
        """With one-line loops."""
        return join_loops(input)

    def solve(self, input: str) -> str:
        """What our interpreter prints."""
        return str(execute(input))
