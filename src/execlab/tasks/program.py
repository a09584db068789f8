"""The program task (the paper's section 3): read a program, print its output.

>>> ProgramTask().solve("e=6653\\nfor x in range(14):e+=6311\\nprint(e)")
'95007'
>>> from execlab.randomness import stream
>>> ProgramTask(operations="conditional").draw(stream("docs"), Difficulty(3)).operations
('conditional',)
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from execlab.options import option, options_of
from execlab.programs import Dialect, Layout, canonical, execute, generate_program
from execlab.programs.generator import choose_operations
from execlab.programs.layout import LAYOUTS, join_loops
from execlab.tasks.task import Difficulty, Sample, Task, too_long

if TYPE_CHECKING:
    from random import Random


@dataclass(frozen=True)
class ProgramTask(Task):
    """Programs of one dialect in one layout."""

    name: ClassVar[str] = "program"
    hardest: ClassVar[Difficulty] = Difficulty(length=50, nesting=10)
    is_python: ClassVar[bool] = True
    outputs: ClassVar[str] = "0123456789-"

    dialect: Dialect = option("released", "Programs: the released generator, or the pseudocode of the appendix.")
    layout: Layout = option("line", "Programs: loops on one line, or indented as in Fig. 1.")
    operations: str = option("all", "Programs: all operations, or some, as in conditional,loop.", quiet=True)
    modulus: int = option(0, "Programs: print the output modulo 10 to this power; 0: as it is.", 0, 50, quiet=True)

    def __post_init__(self) -> None:
        for name, each in options_of(type(self)).items():
            each.check(getattr(self, name))
        # Checked here, used for every program.
        object.__setattr__(self, "_chosen", choose_operations(self.dialect, self.operations))

    @property
    def variant(self) -> str:
        """The dialect, and what else changes the programs or their outputs."""
        parts: list[str] = [self.dialect]
        if self.operations != "all":
            parts.append(",".join(sorted(self.operations.split(","))))
        if self.modulus:
            parts.append(f"modulo {self.modulus}")
        return " ".join(parts)

    def draw(self, rng: Random, difficulty: Difficulty) -> Sample:
        """A program with one-line loops."""
        length, nesting = difficulty
        text, value, operations, form = generate_program(rng, length, nesting, self.dialect, self._chosen)  # type: ignore[attr-defined]
        return Sample(text, self._printed(value), tuple(operations), form)

    def _printed(self, value: int) -> str:
        return str(value % 10**self.modulus if self.modulus else value)

    def render(self, sample: Sample) -> Sample:
        """In the layout of this task."""
        return sample if self.layout == "line" else sample._replace(input=LAYOUTS[self.layout](sample.input))

    def plain(self, input: str) -> str:
        """With one-line loops."""
        return join_loops(input)

    def canonical(self, plain: str) -> str:
        """Free of names, layout, needless parentheses, and the order of the operands of + and *."""
        return canonical(plain)

    def solve(self, input: str) -> str:
        """What our interpreter prints."""
        return self._printed(execute(input))

    def target_of(self, output: str) -> str:
        """Modulo, if asked for."""
        return self._printed(int(output)) if self.modulus else output

    def groups(self, sample: Sample) -> dict[str, list[str]]:
        """By the operations that the generator drew."""
        return {"operation": sorted(set(sample.operations)) or ["not drawn by the generator"]}

    def outside(self, input: str, goal: Difficulty) -> str | None:
        """More digits, or more operations."""
        largest = str(10**goal.length) in input  # is drawn too, and has one digit more
        if longer := too_long(input, goal.length + largest, goal.length):
            return longer
        used = sum(isinstance(node, ast.BinOp | ast.IfExp | ast.For) for node in ast.walk(ast.parse(input)))
        return f"it has {used} operations, and the model was trained on {goal.nesting}" if used > goal.nesting else None
