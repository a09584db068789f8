"""The program task (the paper's section 3): read a program, print its output.

>>> ProgramTask().solve("e=6653\\nfor x in range(14):e+=6311\\nprint(e)")
'95007'
>>> from execlab.randomness import stream
>>> ProgramTask(operations="conditional").draw(stream("docs"), Difficulty(3)).operations
('conditional',)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from execlab.errors import ExeclabError
from execlab.options import option, options_of
from execlab.programs import Dialect, Layout, canonical, execute, generate_program
from execlab.programs.generator import choose_operations
from execlab.programs.interpreter import steps
from execlab.programs.layout import LAYOUTS, join_loops
from execlab.programs.outside import outside
from execlab.programs.work import END, parse_form, work
from execlab.tasks.task import Difficulty, Sample, Task

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from execlab.programs.tree import Statement


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
    work: str = option("none", "Programs: print the work before the answer, as in columns or results,sums.", quiet=True)

    @property
    def symbols(self) -> str:  # type: ignore[override]
        """Names of any letters, and what else a person types."""
        return "!kmquvwyz" if self.dialect == "everyday" else ""

    def __post_init__(self) -> None:
        for name, each in options_of(type(self)).items():
            each.check(getattr(self, name))
        # Checked here, used for every program.
        object.__setattr__(self, "_chosen", choose_operations(self.dialect, self.operations))
        object.__setattr__(self, "_form", None if self.work == "none" else parse_form(self.work))
        if self.dialect == "everyday" and self.layout != "line":
            raise ExeclabError("the dialect everyday draws both layouts, as people type them; leave out layout")

    @property
    def variant(self) -> str:
        """The dialect, and what else changes the programs or their outputs."""
        parts: list[str] = [self.dialect]
        if self.operations != "all":
            parts.append(",".join(sorted(self.operations.split(","))))
        if self.modulus:
            parts.append(f"modulo {self.modulus}")
        return " ".join(parts)

    @property
    def modification(self) -> str:
        """Whether the work is shown, and how."""
        return "" if self.work == "none" else f"work {self.work}"

    def draw(self, rng: Random, difficulty: Difficulty) -> Sample:
        """A program with one-line loops."""
        length, nesting = difficulty
        program = generate_program(rng, length, nesting, self.dialect, self._chosen)  # type: ignore[attr-defined]
        target, operations = self._printed(program.value), tuple(program.operations)
        return Sample(program.text, target, operations, program.canonical, program.tree)

    def _target(self, program: str | Sequence[Statement], output: str) -> str:
        if self._form is None:  # type: ignore[attr-defined]
            return output
        return work(steps(program), self._form) + output  # type: ignore[attr-defined]

    def _printed(self, value: int) -> str:
        return str(value % 10**self.modulus if self.modulus else value)

    def render(self, sample: Sample) -> Sample:
        """With its work, in the layout of this task."""
        target = self._target(sample.tree or sample.input, sample.target)
        return sample._replace(input=LAYOUTS[self.layout](sample.input), target=target)

    def plain(self, input: str) -> str:
        """With one-line loops; a program of everyday as it is."""
        return input if self.dialect == "everyday" else join_loops(input)

    def canonical(self, plain: str) -> str:
        """Free of names, layout, needless parentheses, and the order of the operands of + and *."""
        return canonical(plain)

    def solve(self, input: str) -> str:
        """What our interpreter prints."""
        return self._target(input, self._printed(execute(input)))

    def parts(self, printed: str) -> list[str]:
        """The parts of the work, then the answer."""
        return [printed] if self._form is None else printed.split(END)  # type: ignore[attr-defined]

    def target_of(self, output: str) -> str:
        """Modulo, if asked for."""
        return self._printed(int(output)) if self.modulus else output

    def groups(self, sample: Sample) -> dict[str, list[str]]:
        """By the operations that the generator drew."""
        return {"operation": sorted(set(sample.operations)) or ["not drawn by the generator"]}

    def outside(self, input: str, goal: Difficulty) -> str | None:
        """What the dialect's generator would not write."""
        return outside(input, self.dialect, goal)
