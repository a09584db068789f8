"""The operations that programs are made of, as the paper lists them (section 3) and as its released code writes them.

An operation takes operands and gives a new one: the code that must run first, an expression, and its value; beside
code and expression their canonical forms (canonical.py) and what the interpreter walks (tree.py), so that nobody has
to parse what was just written. The value is computed here, too, so it is one of three independent witnesses of a
program's output (the others: our interpreter, and CPython).

>>> from execlab.randomness import stream
>>> draws = Draws(stream("example"), length=4)
>>> operands = [("", "8584", 8584, "", "8584", (), 8584), ("", "920", 920, "", "920", (), 920)]
>>> code, expression, value, setup, form, first, tree = loop(draws, operands)
>>> print(code, expression, value, sep="")
j=8584
for x in range(10):j+=920
j17784
>>> print(setup, form, sep="")
v1=8584
for x in range(10):v1=920+v1
v1
>>> first, tree
((('=', 'j', 8584, None), ('for', 'x', 10, (('+=', 'j', 920, None),), None)), ('name', 'j', None))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from execlab.programs.forms import minus, plus, times, variable
from execlab.randomness import below

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from random import Random

    from execlab.programs.tree import Expression, Statement

VARIABLES = "abcdefghij"
LOOP_VARIABLE = "x"
_NAMES = [variable(number) for number in range(1 + len(VARIABLES))]

# Something an operation can work on, a literal or the outcome of an earlier operation: the statements that must run
# first (each with its newline), the expression, its value; the canonical forms of statements and expression; and both
# as the interpreter walks them (tree.py). A bare tuple: a named one takes half as long again.
Operand: TypeAlias = "tuple[str, str, int, str, str, tuple[Statement, ...], Expression]"


class Draws:
    """What one program draws at random: literals, small numbers, coins and variables, none of them reused."""

    def __init__(self, rng: Random, length: int) -> None:
        self.rng = rng
        self.largest = 10**length
        self.bits = (self.largest - 1).bit_length()
        self.largest_small = 4 * length
        self.free = VARIABLES
        self.assigned = 0  # variables in the code that the next one follows

    def literals(self, count: int) -> list[Operand]:
        """Uniform integers in [1, 10^length]."""
        operands: list[Operand] = []
        getrandbits, bits, largest = self.rng.getrandbits, self.bits, self.largest
        for _ in range(count):
            value = getrandbits(bits)  # `below`, written out: this is the innermost loop
            while value >= largest:
                value = getrandbits(bits)
            value += 1
            text = str(value)
            operands.append(("", text, value, "", text, (), value))
        return operands

    def small(self) -> int:
        """A multiplier or loop count: a uniform integer in [1, 4 * length]."""
        return 1 + below(self.rng, self.largest_small)

    def coin(self) -> bool:
        """A fair coin."""
        return self.rng.getrandbits(1) == 1

    def variable(self) -> tuple[str, str]:
        """A variable that this program has not used yet, and what its canonical form calls it."""
        i = below(self.rng, len(self.free))
        name, self.free = self.free[i], self.free[:i] + self.free[i + 1 :]
        self.assigned += 1
        return name, _NAMES[self.assigned]


def addition(_draws: Draws, operands: Sequence[Operand]) -> Operand:
    """`(a+b)`; the appendix counts it apart from subtraction."""
    (a_code, a, a_value, a_setup, a_form, a_first, a_tree), (b_code, b, b_value, b_setup, b_form, b_first, b_tree) = (
        operands
    )
    text, form, tree = f"({a}+{b})", plus(a_form, b_form), ("+", a_tree, b_tree, None)
    return a_code + b_code, text, a_value + b_value, a_setup + b_setup, form, a_first + b_first, tree


def subtraction(_draws: Draws, operands: Sequence[Operand]) -> Operand:
    """`(a-b)`; the appendix counts it apart from addition."""
    (a_code, a, a_value, a_setup, a_form, a_first, a_tree), (b_code, b, b_value, b_setup, b_form, b_first, b_tree) = (
        operands
    )
    text, form, tree = f"({a}-{b})", minus(a_form, b_form), ("-", a_tree, b_tree, None)
    return a_code + b_code, text, a_value - b_value, a_setup + b_setup, form, a_first + b_first, tree


def signed_addition(draws: Draws, operands: Sequence[Operand]) -> Operand:
    """`(a+b)` or `(a-b)`; one operation in the released code."""
    return addition(draws, operands) if draws.coin() else subtraction(draws, operands)


def multiplication(draws: Draws, operands: Sequence[Operand]) -> Operand:
    """`(a*k)` or `(k*a)` with a small k."""
    ((code, a, value, setup, form, first, tree),) = operands
    k = draws.small()
    form = times(form, str(k))
    if draws.coin():
        return code, f"({a}*{k})", value * k, setup, form, first, ("*", tree, k, None)
    return code, f"({k}*{a})", value * k, setup, form, first, ("*", k, tree, None)


def identity(_draws: Draws, operands: Sequence[Operand]) -> Operand:
    """The operand itself: uses up one level of nesting and changes nothing (released code only)."""
    return operands[0]


def assignment(draws: Draws, operands: Sequence[Operand]) -> Operand:
    """`v=a`, then `v` (appendix)."""
    ((code, a, value, setup, form, first, tree),) = operands
    v, w = draws.variable()
    return f"{code}{v}={a}\n", v, value, f"{setup}{w}={form}\n", w, (*first, ("=", v, tree, None)), ("name", v, None)


def assignment_addition(draws: Draws, operands: Sequence[Operand]) -> Operand:
    """`v=a;`, then `(v+b)` or `(v-b)` (released code): the only place of a semicolon."""
    (a_code, a, a_value, a_setup, a_form, a_first, a_tree), (b_code, b, b_value, b_setup, b_form, b_first, b_tree) = (
        operands
    )
    v, w = draws.variable()
    code, setup = f"{a_code}{b_code}{v}={a};\n", f"{a_setup}{b_setup}{w}={a_form}\n"
    first = (*a_first, *b_first, ("=", v, a_tree, None))
    assigned = code, v, a_value, setup, w, first, ("name", v, None)
    return signed_addition(draws, [assigned, ("", b, b_value, "", b_form, (), b_tree)])


def loop(draws: Draws, operands: Sequence[Operand]) -> Operand:
    """`v=a`, then `for x in range(n):v+=b` or `v-=b`, then `v`."""
    (a_code, a, a_value, a_setup, a_form, a_first, a_tree), (b_code, b, b_value, b_setup, b_form, b_first, b_tree) = (
        operands
    )
    (v, w), n = draws.variable(), draws.small()
    if draws.coin():
        sign, value, form = "+", a_value + n * b_value, plus(w, b_form)
    else:
        sign, value, form = "-", a_value - n * b_value, minus(w, b_form)
    body = ((f"{sign}=", v, b_tree, None),)
    return (
        f"{a_code}{b_code}{v}={a}\nfor {LOOP_VARIABLE} in range({n}):{v}{sign}={b}\n",
        v,
        value,
        f"{a_setup}{b_setup}{w}={a_form}\nfor {LOOP_VARIABLE} in range({n}):{w}={form}\n",
        w,
        (*a_first, *b_first, ("=", v, a_tree, None), ("for", LOOP_VARIABLE, n, body, None)),
        ("name", v, None),
    )


def conditional(draws: Draws, operands: Sequence[Operand]) -> Operand:
    """`(c if a>b else d)`, or with `<`."""
    (
        (c_code, c, c_value, c_setup, c_form, c_first, c_tree),
        (a_code, a, a_value, a_setup, a_form, a_first, a_tree),
        (b_code, b, b_value, b_setup, b_form, b_first, b_tree),
        (d_code, d, d_value, d_setup, d_form, d_first, d_tree),
    ) = operands
    if draws.coin():
        sign, holds, less, more = ">", a_value > b_value, b_form, a_form
    else:
        sign, holds, less, more = "<", a_value < b_value, a_form, b_form
    return (
        c_code + a_code + b_code + d_code,
        f"({c} if {a}{sign}{b} else {d})",
        c_value if holds else d_value,
        c_setup + a_setup + b_setup + d_setup,
        f"({c_form} if {less}<{more} else {d_form})",
        c_first + a_first + b_first + d_first,
        ("if", (a_tree, ((sign, b_tree),), None), c_tree, d_tree, None),
    )


class Operation(NamedTuple):
    """An operation of a dialect: how many operands it takes (small numbers aside) and how it builds on them."""

    name: str
    operands: int
    build: Callable[[Draws, Sequence[Operand]], Operand]


RELEASED = (
    Operation("addition", 2, signed_addition),
    Operation("multiplication", 1, multiplication),
    Operation("identity", 1, identity),
    Operation("assignment", 2, assignment_addition),
    Operation("loop", 2, loop),
    Operation("conditional", 4, conditional),
)

APPENDIX = (
    Operation("addition", 2, addition),
    Operation("subtraction", 2, subtraction),
    Operation("multiplication", 1, multiplication),
    Operation("conditional", 4, conditional),
    Operation("loop", 2, loop),
    Operation("assignment", 1, assignment),
)
