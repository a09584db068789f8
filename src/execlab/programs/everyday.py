"""Programs as a person types them into a playground: the dialect `everyday`.

Small numbers of unequal lengths, one to four statements before the print, variables that are read twice, updated
(`a=a+1`, `a+=1`) or not read at all, several operations in one expression, with and without parentheses, negative
literals, all comparisons, loops of one or two lines, names and spaces as people put them. Everything is in the
interpreter's subset. `nesting` is the number of operations (arithmetic, conditionals, updates, loops, and now and then
`identity`, which does nothing) and `length` the most digits of a literal; three and more are rare.

>>> from execlab.randomness import stream
>>> text, value, operations = everyday(stream("docs", 4), length=2, nesting=3)
>>> print(text)
n=79
for k in range(10):
    n-=0
print(n if 79==n else 60)
>>> value, operations
(79, ['identity', 'loop', 'conditional'])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from execlab.randomness import below

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from random import Random

OPERATIONS = ("addition", "subtraction", "multiplication", "conditional", "update", "loop", "identity")
LETTERS = "abcxyznijkmpqrstuvwdefghlo"  # the first ones more often
WORDS = (
    *("total", "count", "sum", "num", "result", "res", "val", "value", "number", "score", "age", "temp", "ans"),
    *("first", "second", "x1", "x2", "a1", "a2", "num1", "num2", "apples", "money", "price", "foo", "bar", "y1", "y2"),
)
LOOP_NAMES = ("i", "i", "i", "j", "k", "x", "n", "a")
SIGNS = {"addition": "+", "subtraction": "-", "multiplication": "*"}
COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "<": int.__lt__,
    ">": int.__gt__,
    "<=": int.__le__,
    ">=": int.__ge__,
    "==": int.__eq__,
    "!=": int.__ne__,
}
LARGEST = 10**6  # of any value
SUM, PRODUCT, ATOM = 1, 2, 3  # how tightly an expression binds; a conditional is looser than all: 0
MOST_STATEMENTS = 4
MOST_ROUNDS = 10


class Piece(NamedTuple):
    """An expression: its text, its value, and how tightly it binds."""

    text: str
    value: int
    binds: int = ATOM


class Writer:
    """A program while it is written: its statements, its variables and the habits of who types it."""

    def __init__(self, rng: Random, length: int, allowed: Sequence[str]) -> None:
        self.rng, self.length, self.allowed = rng, length, allowed
        self.statements: list[str] = []
        self.values: dict[str, int] = {}
        self.unread: list[str] = []
        self.operations: list[str] = []
        style = below(rng, 10)
        self.around = " " if style < 4 else ""  # operators
        self.equals = " " if style < 5 else ""  # the = of an assignment
        self.parenthesised = below(rng, 5) == 0  # as the paper does
        self.indent = "    " if self.chance(60) else "  "
        self.separator = ("; " if self.chance(50) else ";") if self.chance(4) else "\n"
        self.words = self.chance(15)

    def vary(self) -> None:
        """Now and then another habit of spaces, from one statement to the next."""
        if self.chance(8):
            self.around, self.equals = " " * self.chance(50), " " * self.chance(50)

    def chance(self, percent: int) -> bool:
        """True so many times in a hundred."""
        return below(self.rng, 100) < percent

    def pick(self, choices: Sequence[str]) -> str:
        """One of several, uniformly."""
        return choices[below(self.rng, len(choices))]

    def literal(self) -> int:
        """A number of one or two digits, now and then of more, up to `length`."""
        digits = 1 + below(self.rng, min(2, self.length))
        if self.length > 2 and self.chance(10):
            digits = 3 + below(self.rng, self.length - 2)
        smallest = 10 ** (digits - 1) if digits > 1 else 0
        return smallest + below(self.rng, 10**digits - smallest)

    def number(self) -> Piece:
        """A literal, rarely a negative one."""
        value = self.literal()
        return Piece(f"-{value}", -value, PRODUCT) if self.chance(5) else Piece(str(value), value)

    def name(self) -> str:
        """A variable's name that is not in use."""
        while True:
            if self.words and self.chance(70):
                name = self.pick(WORDS)
            else:
                first = 3 + below(self.rng, 4) if self.chance(75) else len(LETTERS)
                name = LETTERS[below(self.rng, first)]
            if name not in self.values:
                return name

    def operand(self) -> Piece:
        """A variable, rather one that has not been read yet, or a literal."""
        if not self.values or self.chance(30):
            return self.number()
        variable = self.read(self.pick(self.unread if self.unread and self.chance(70) else list(self.values)))
        return Piece(f"-{variable.text}", -variable.value, PRODUCT) if self.chance(3) else variable

    def read(self, name: str) -> Piece:
        """A variable in an expression."""
        if name in self.unread:
            self.unread.remove(name)
        return Piece(name, self.values[name])

    def assign(self, name: str, value: int) -> None:
        """Note what a variable holds."""
        self.values[name] = value
        if name not in self.unread:
            self.unread.append(name)

    def inside(self, piece: Piece, binds: int) -> str:
        """An expression as part of another one that binds so tightly."""
        return piece.text if piece.binds >= binds else f"({piece.text})"

    def expression(self, operations: int) -> Piece:
        """An expression with so many operations."""
        if operations == 0:
            return self.operand()
        kinds = [kind for kind in self.allowed if kind in SIGNS or kind == "conditional"]
        weights = {"addition": 4, "subtraction": 3, "multiplication": 3, "conditional": 1}
        kind = self.pick([kind for kind in kinds for _ in range(weights[kind])])
        if kind == "conditional":
            return self.conditional(operations - 1)
        share = operations - 1 if self.chance(50) else below(self.rng, operations)  # mostly a chain, as in a+b*c-d
        left, right = self.expression(share), self.expression(operations - 1 - share)
        return self.combine(kind, left, right)

    def combine(self, kind: str, left: Piece, right: Piece) -> Piece:
        """A sum, a difference or a product; not a product that would be too large."""
        if kind == "multiplication" and abs(left.value * right.value) > LARGEST:
            kind = "addition" if "addition" in self.allowed else "subtraction"
        self.operations.append(kind)
        sign = SIGNS[kind]
        if kind == "multiplication":
            value, binds = left.value * right.value, PRODUCT
            text = [self.inside(left, PRODUCT), self.inside(right, ATOM)]
        else:
            value = left.value + right.value if sign == "+" else left.value - right.value
            binds = SUM
            text = [self.inside(left, SUM), self.inside(right, PRODUCT)]
        around = self.around
        piece = Piece(f"{text[0]}{around}{sign}{around}{text[1]}", value, binds)
        return Piece(f"({piece.text})", value) if self.parenthesised or self.chance(8) else piece

    def conditional(self, operations: int) -> Piece:
        """`c if a>b else d`."""
        shares = [0, 0, 0, 0]
        for _ in range(operations):
            shares[below(self.rng, 4)] += 1
        c, a = self.expression(shares[0]), self.expression(shares[1])
        if shares[2] == 0 and 0 <= a.value < 10**self.length and self.chance(12):  # equality is rare otherwise
            b = Piece(str(a.value), a.value)
        else:
            b = self.expression(shares[2])
        d = self.expression(shares[3])
        sign = self.pick(list(COMPARISONS))
        self.operations.append("conditional")
        around = self.around
        sides = [self.inside(piece, SUM) for piece in (c, a, b, d)]
        text = f"{sides[0]} if {sides[1]}{around}{sign}{around}{sides[2]} else {sides[3]}"
        value = c.value if COMPARISONS[sign](a.value, b.value) else d.value
        return Piece(f"({text})", value) if self.chance(50) else Piece(text, value, 0)

    def assignment(self, operations: int) -> None:
        """`v=expression`; with operations often an update of a variable that is there."""
        piece = self.expression(operations)
        old = operations and self.values and self.chance(50)
        name = self.pick(list(self.values)) if old else self.name()
        self.statements.append(f"{name}{self.equals}={self.equals}{piece.text}")
        self.assign(name, piece.value)

    def update(self, name: str, also: Sequence[str] = ()) -> tuple[str, Callable[[dict[str, int]], int]]:
        """`v+=a`, `v-=a`, `v*=a` or `v=v+a`: its text, and what it makes of the variables."""
        kinds = [kind for kind in ("addition", "addition", "subtraction", "multiplication") if kind in self.allowed]
        sign = SIGNS[self.pick(kinds or ["addition"])]
        if sign == "*":
            operand = str(2 + below(self.rng, 4)) if also else str(below(self.rng, 11))
        elif also and self.chance(35):
            operand = self.pick(also)  # the loop's variable
        elif len(self.values) > 1 and self.chance(30):
            operand = self.pick([other for other in self.values if other != name])
        else:
            operand = str(self.literal())
        if operand in self.unread:
            self.unread.remove(operand)
        e, a = self.equals, self.around
        text = f"{name}{e}{sign}={e}{operand}" if self.chance(65) else f"{name}{e}={e}{name}{a}{sign}{a}{operand}"

        def run(values: dict[str, int]) -> int:
            by = values[operand] if operand in values else int(operand)
            before = values[name]
            return before + by if sign == "+" else before - by if sign == "-" else before * by

        return text, run

    def loop(self, operations: int) -> None:
        """A loop whose body updates one variable or two."""
        if not self.values:
            self.start_from(0 if self.chance(60) else self.literal())
        free = [name for name in LOOP_NAMES if name not in self.values] or ["loop"]
        counter, rounds = self.pick(free), 1 + below(self.rng, MOST_ROUNDS) if self.chance(95) else 0
        count = str(rounds)
        if (few := [name for name, value in self.values.items() if 0 <= value <= MOST_ROUNDS]) and self.chance(20):
            count, rounds = (variable := self.read(self.pick(few))).text, variable.value
        names = [self.pick(list(self.values))]
        if operations > 1 and len(self.values) > 1 and self.chance(60):
            names.append(self.pick([name for name in self.values if name != names[0]]))
        for _ in range(20):
            updates = [(name, *self.update(name, (counter,))) for name in names]
            values = {**self.values, counter: 0}
            largest = 0
            for i in range(rounds):
                values[counter] = i
                for name, _, run in updates:
                    values[name] = run(values)
                    largest = max(largest, abs(values[name]))
                if largest > LARGEST:
                    break
            if largest <= LARGEST:
                break
        else:
            return
        body = [text for _, text, _ in updates]
        space = " " if self.around or self.chance(30) else ""
        head = f"for {counter} in range({count}):"
        if len(body) == 1 and self.chance(45):
            self.statements.append(f"{head}{space}{body[0]}")
        else:
            self.statements.append("\n".join([head, *(f"{self.indent}{line}" for line in body)]))
        self.operations += ["loop"] + ["update"] * (len(body) - 1)
        for name in names:
            self.assign(name, values[name])

    def start_from(self, value: int) -> None:
        """`v=` a number."""
        name = self.name()
        self.statements.append(f"{name}{self.equals}={self.equals}{value}")
        self.assign(name, value)


def everyday(rng: Random, length: int, nesting: int, allowed: Sequence[str] = OPERATIONS) -> tuple[str, int, list[str]]:
    """A program of `nesting` operations, what it prints, and the operations."""
    writer = Writer(rng, length, allowed)
    for _ in range((0, 1, 1, 2, 2, 3)[below(rng, 6)]):
        writer.start_from(writer.number().value)
    if "identity" in allowed:
        writer.operations += ["identity"] * sum(writer.chance(8) for _ in range(nesting))
    in_expressions = any(kind in SIGNS or kind == "conditional" for kind in allowed)
    while (left := nesting - len(writer.operations)) > 0 and len(writer.statements) < MOST_STATEMENTS:
        writer.vary()
        choice = below(rng, 10)
        if choice < 2 and "loop" in allowed:
            writer.loop(left)
        elif choice < 4 and "update" in allowed and writer.values:
            name = writer.pick(list(writer.values))
            text, run = writer.update(name)
            if abs(value := run(writer.values)) <= LARGEST:
                writer.statements.append(text)
                writer.assign(name, value)
                writer.operations.append("update")
        elif choice < 6 and in_expressions:
            writer.assignment(1 + below(rng, min(left, 2)))
        else:
            break
    writer.vary()
    left = max(nesting - len(writer.operations), 0) if in_expressions else 0
    plain = left == 0 and writer.values and writer.chance(90)
    piece = writer.read(writer.pick(writer.unread or list(writer.values))) if plain else writer.expression(left)
    joined = writer.separator if not any(line.startswith("for ") for line in writer.statements) else "\n"
    text = joined.join([*writer.statements, f"print({piece.text})"])
    return text, piece.value, writer.operations
