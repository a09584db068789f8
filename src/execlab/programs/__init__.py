"""What a program is: its operations, the generator that draws it, the interpreter that runs it."""

from execlab.programs.canonical import canonical
from execlab.programs.generator import DIALECTS, Dialect, generate_program
from execlab.programs.interpreter import TraceStep, execute, trace
from execlab.programs.layout import LAYOUTS, Layout
from execlab.programs.syntax import ProgramError, parse

__all__ = [
    "DIALECTS",
    "LAYOUTS",
    "Dialect",
    "Layout",
    "ProgramError",
    "TraceStep",
    "canonical",
    "execute",
    "generate_program",
    "parse",
    "trace",
]
