"""Random programs of a chosen length and nesting (the paper's section 3 and its appendix's pseudocode).

Two dialects: `released`, the generator behind every example that the paper prints, where each operation builds on the
one before it; and `appendix`, the pseudocode to the letter, where an operand is popped from a stack with probability
1/2. Both give one-line loops; `layout.py` turns them into the indented form of Fig. 1.

>>> from execlab.randomness import stream
>>> text, value, operations = generate_program(stream("docs", 179), length=4, nesting=3)
>>> print(text)
c=315
for x in range(1):c-=3528
j=3462;
print((7854 if (j-c)>3064 else 8757))
>>> value, operations
(7854, ['loop', 'assignment', 'conditional'])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from execlab.errors import unknown
from execlab.programs.operations import APPENDIX, RELEASED, Draws, Operand, Operation
from execlab.randomness import below

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from random import Random

Dialect = Literal["released", "appendix"]


def generate_program(
    rng: Random,
    length: int,
    nesting: int,
    dialect: Dialect = "released",
    operations: Sequence[Operation] | None = None,
) -> tuple[str, int, list[str]]:
    """A program of `nesting` operations on integers of up to `length` digits, what it prints, and the operations."""
    draw, everything = DIALECTS[dialect]
    (code, expression, value), names = draw(rng, Draws(rng, length), nesting, operations or everything)
    return f"{code}print({expression})", value, names


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
    stack: list[Operand] = []  # never more than one
    for _ in range(nesting):
        operation = known[below(rng, len(known))]
        operands = draws.literals(operation.operands - len(stack))
        if stack:
            operands.insert(below(rng, operation.operands), stack.pop())
        stack.append(operation.build(draws, operands))
        names.append(operation.name)
    return stack[-1], names


def appendix(
    rng: Random, draws: Draws, nesting: int, known: Sequence[Operation] = APPENDIX
) -> tuple[Operand, list[str]]:
    """Every operand is popped with probability 1/2; what is left on the stack goes, and its code with it."""
    names: list[str] = []
    stack: list[Operand] = []
    for _ in range(nesting):
        operation = known[below(rng, len(known))]
        operands = [stack.pop() if stack and draws.coin() else draws.literals(1)[0] for _ in range(operation.operands)]
        stack.append(operation.build(draws, operands))
        names.append(operation.name)
    return stack[-1], names


DIALECTS: dict[Dialect, tuple[Callable[..., tuple[Operand, list[str]]], tuple[Operation, ...]]] = {
    "released": (released, RELEASED),
    "appendix": (appendix, APPENDIX),
}
