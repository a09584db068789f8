"""Runs a program and tells what it prints: the truth that every label is checked against.

It walks a tree (tree.py) of a text that `syntax.py` has checked, or of the generator; nothing is compiled or run by
Python. Besides what the generator writes, it takes what a person would type: longer expressions, several statements,
indented loop bodies.

>>> execute("j=8584\\nfor x in range(8):j+=920\\nb=(1500+j)\\nprint((b+7567))")
25011
>>> [(step.line, step.variables) for step in trace("a=2;b=3\\na*=b\\nprint(a-b)")]
[(1, {'a': 2, 'b': 3}), (2, {'a': 6, 'b': 3}), (3, {'a': 6, 'b': 3})]
>>> execute("a=1\\nfor x in range(99999):a+=x\\nprint(a)")
Traceback (most recent call last):
execlab.programs.syntax.ProgramError: line 2, column 23: the program takes more than 10,000 \
steps (operations or statements)
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from execlab.programs.syntax import MAX_DIGITS, ProgramError, parse, shown
from execlab.programs.tree import Expression, Statement, build

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Where: TypeAlias = "tuple[int, int] | None"
MAX_STEPS = 10_000
_LIMIT = 10**MAX_DIGITS
_LIMIT_BITS = _LIMIT.bit_length()


class TraceStep(NamedTuple):
    """One executed line and the variables after it."""

    line: int
    variables: dict[str, int]


class Step(NamedTuple):
    """One operation inside a line, in the order of execution, with its operands and its result.

    The sign is that of an operation (+ - *), of a comparison (< > <= >= == !=; its result is 1 or 0), "if" for the
    value that a condition chose, "=" for an assignment or "print"; their left and right are their value.
    """

    sign: str
    left: int
    right: int
    value: int
    name: str = ""  # the variable that is assigned


def execute(text: str) -> int:
    """The integer that the program prints."""
    machine = _Machine()
    for _ in machine.run(build(parse(text))):
        pass
    return machine.output


def trace(text: str) -> Iterator[TraceStep]:
    """A step for each executed line, in the order of execution; a loop's line counts once per round."""
    machine = _Machine()
    for line in machine.run(build(parse(text))):
        yield TraceStep(line, dict(machine.variables))


def steps(program: str | Sequence[Statement]) -> list[Step]:
    """Every operation of a text or a tree, in the order of execution: the intermediate results, loops included.

    >>> [(step.left, step.sign, step.right, step.value) for step in steps("print((2+3)*4)")]
    [(2, '+', 3, 5), (5, '*', 4, 20), (20, 'print', 20, 20)]
    """
    record: list[Step] = []
    machine = _Machine(record)
    for _ in machine.run(build(parse(program)) if isinstance(program, str) else program):
        pass
    return record


_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_NOWHERE = (0, 0)  # in a program of the generator


class _Machine:
    """The variables, the printed integer, and how many steps it took so far."""

    def __init__(self, record: list[Step] | None = None) -> None:
        self.record = record  # of every operation, if it is wanted
        self.variables: dict[str, int] = {}
        self.output = 0
        self.steps = 0

    def run(self, statements: Sequence[Statement]) -> Iterator[int]:
        """Execute, yielding the number of each line when it is done."""
        for i, statement in enumerate(statements):
            if statement[0] == "for":
                yield from self._loop(statement)
            else:
                self._simple(statement)
                line = _line(statement)
                if i + 1 == len(statements) or _line(statements[i + 1]) != line:
                    yield line

    def _loop(self, loop: Statement) -> Iterator[int]:
        _, variable, bound, body, _ = loop
        count, line = self.value(bound), _line(loop)
        own_line = _line(body[0]) != line
        done = 0
        while done < count:
            self.variables[variable] = done
            if own_line:
                yield line
            yield from self.run(body)
            done += 1
        if done == 0:
            yield line

    def _simple(self, statement: Statement) -> None:
        before_it = self.steps
        what = statement[0]
        if what == "print":
            self.output = self.value(statement[1])
            self._note("print", self.output)
        else:
            _, name, expression, where = statement
            if what == "=":
                value = self.value(expression)
            else:
                before = self._lookup(name, where)
                value = self._combine(what[0], before, self.value(expression), where)
            self.variables[name] = value
            self._note("=", value, name)
        if self.steps == before_it:
            self._step(statement[-1])  # every statement is at least one step

    def _note(self, sign: str, value: int, name: str = "") -> None:
        if self.record is not None:
            self.record.append(Step(sign, value, value, value, name))

    def value(self, node: Expression) -> int:
        """The value of an expression."""
        if type(node) is int:
            return node
        what = node[0]
        if what == "name":
            return self._lookup(node[1], node[2])
        if what == "if":
            _, test, body, orelse, _ = node
            number = self.value(body if self._holds(test) else orelse)
            self._note("if", number)
            return number
        if what in ("neg", "pos"):
            self._step(node[2])
            number = self.value(node[1])
            return -number if what == "neg" else number
        return self._combine(what, self.value(node[1]), self.value(node[2]), node[3])

    def _holds(self, test: tuple[Expression, Sequence[tuple[str, Expression]], Where]) -> bool:
        left = self.value(test[0])
        for sign, comparator in test[1]:
            self._step(test[2])
            right = self.value(comparator)
            holds = _COMPARISONS[sign](left, right)
            if self.record is not None:
                self.record.append(Step(sign, left, right, int(holds)))
            if not holds:
                return False
            left = right
        return True

    def _lookup(self, name: str, where: Where) -> int:
        value = self.variables.get(name)
        if value is None:
            raise _error(where, f"the variable {shown(name)} has no value yet; assign to it first")
        return value

    def _combine(self, sign: str, left: int, right: int, where: Where) -> int:
        if sign == "*":
            # A product of long integers takes long, so it counts as the many steps that it is.
            self._step(where, 1 + (left.bit_length() * right.bit_length() >> 20))
            number = left * right
        else:
            self._step(where)
            number = left + right if sign == "+" else left - right
        if self.record is not None:
            self.record.append(Step(sign, left, right, number))
        if number.bit_length() >= _LIMIT_BITS and abs(number) >= _LIMIT:
            raise _error(where, f"an integer grows too large; at most {MAX_DIGITS:,} digits are allowed")
        return number

    def _step(self, where: Where, cost: int = 1) -> None:
        self.steps += cost
        if self.steps > MAX_STEPS:
            raise _error(where, f"the program takes more than {MAX_STEPS:,} steps (operations or statements)")


def _line(statement: Statement) -> int:
    return (statement[-1] or _NOWHERE)[0]


def _error(where: Where, message: str) -> ProgramError:
    return ProgramError(message, *(where or _NOWHERE))
