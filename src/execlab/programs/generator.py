"""Random programs of a chosen length and nesting (the paper's section 3 and its appendix's pseudocode).

Two dialects: `released`, the generator behind every example that the paper prints, where each operation builds on the
one before it; and `appendix`, the pseudocode to the letter, where an operand is popped from a stack with probability
1/2. Both give one-line loops; `layout.py` turns them into the indented form of Fig. 1. Beside a program stands its
canonical form (canonical.py), which decides its split.

>>> from execlab.randomness import stream
>>> program = generate_program(stream("docs", 179), length=4, nesting=3)
>>> print(program.text)
c=315
for x in range(1):c-=3528
j=3462;
print((7854 if (j-c)>3064 else 8757))
>>> program.value, program.operations
(7854, ['loop', 'assignment', 'conditional'])
>>> print(program.canonical)
v1=315
for x in range(1):v1=v1-3528
v2=3462
print((7854 if 3064<v2-v1 else 8757))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from execlab.errors import unknown
from execlab.programs.everyday import OPERATIONS as EVERYDAY_NAMES
from execlab.programs.everyday import everyday
from execlab.programs.forms import shifted
from execlab.programs.operations import APPENDIX, RELEASED, Draws, Operand, Operation
from execlab.randomness import below

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from random import Random

    from execlab.programs.tree import Statement

Dialect = Literal["released", "appendix", "everyday"]


class Program(NamedTuple):
    """A program as it is drawn; of everyday there is neither canonical form nor tree, they are made from the text."""

    text: str
    value: int
    operations: list[str]
    canonical: str = ""
    tree: tuple[Statement, ...] = ()  # as the interpreter walks it


def generate_program(
    rng: Random,
    length: int,
    nesting: int,
    dialect: Dialect = "released",
    operations: Sequence[Operation] | None = None,
) -> Program:
    """A program of `nesting` operations on integers of up to `length` digits."""
    if dialect == "everyday":
        return Program(*everyday(rng, length, nesting, [each.name for each in operations or EVERYDAY]))
    draw, everything = DIALECTS[dialect]
    operand, names = draw(rng, Draws(rng, length), nesting, operations or everything)
    code, expression, value, setup, form, first, tree = operand
    statements = (*first, ("print", tree, None))
    return Program(f"{code}print({expression})", value, names, f"{setup}print({form})", statements)


def choose_operations(dialect: Dialect, names: str) -> tuple[Operation, ...]:
    """The operations of a dialect that are named, with commas between; or "all".

    >>> [operation.name for operation in choose_operations("released", "loop,addition")]
    ['addition', 'loop']
    """
    everything = DIALECTS[dialect][1]
    known = [operation.name for operation in everything]
    chosen = known if names == "all" else names.split(",")
    if unknown_names := [name for name in chosen if name not in known]:
        raise unknown(f"operation of the dialect {dialect}", unknown_names[0], known)
    return tuple(operation for operation in everything if operation.name in chosen)


def released(
    rng: Random, draws: Draws, nesting: int, known: Sequence[Operation] = RELEASED
) -> tuple[Operand, list[str]]:
    """Every operation takes up the one before it, at a random operand position: a program is one chain."""
    names: list[str] = []
    operand: Operand | None = None
    getrandbits, count = rng.getrandbits, len(known)
    bits = (count - 1).bit_length()
    for _ in range(nesting):
        choice = getrandbits(bits)  # `below`, written out: this is the innermost loop
        while choice >= count:
            choice = getrandbits(bits)
        name, needed, build = known[choice]
        if operand is None:
            operands = draws.literals(needed)
        else:
            operands = draws.literals(needed - 1)
            operands.insert(below(rng, needed), operand)
        operand = build(draws, operands)
        names.append(name)
    assert operand is not None  # noqa: S101 - nesting is at least 1
    return operand, names


def appendix(
    rng: Random, draws: Draws, nesting: int, known: Sequence[Operation] = APPENDIX
) -> tuple[Operand, list[str]]:
    """Every operand is popped with probability 1/2; what is left on the stack goes, and its code with it."""
    names: list[str] = []
    stack: list[tuple[Operand, int]] = []  # with how many variables its code assigns
    for _ in range(nesting):
        name, needed, build = known[below(rng, len(known))]
        operands = []
        draws.assigned = 0
        for _ in range(needed):
            if stack and draws.coin():
                operand, assigned = stack.pop()
                operands.append(_shifted(operand, draws.assigned) if draws.assigned and assigned else operand)
                draws.assigned += assigned
            else:
                operands += draws.literals(1)
        stack.append((build(draws, operands), draws.assigned))
        names.append(name)
    return stack[-1][0], names


def _shifted(operand: Operand, by: int) -> Operand:
    """An operand whose code comes after that of others, which assigns so many variables."""
    code, expression, value, setup, form, first, tree = operand
    return code, expression, value, shifted(setup, by), shifted(form, by), first, tree


EVERYDAY = tuple(Operation(name, 0, lambda *_: ("", "", 0, "", "", (), 0)) for name in EVERYDAY_NAMES)
DIALECTS: dict[Dialect, tuple[Callable[..., tuple[Operand, list[str]]], tuple[Operation, ...]]] = {
    "released": (released, RELEASED),
    "appendix": (appendix, APPENDIX),
    "everyday": (appendix, EVERYDAY),
}
