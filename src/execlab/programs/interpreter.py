"""Runs a program and tells what it prints: the truth that every label is checked against.

It walks the tree that `syntax.py` has checked; nothing is compiled or run by Python. Besides what the generator
writes, it takes what a person would type: longer expressions, several statements, indented loop bodies.

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

import ast
import operator
from typing import TYPE_CHECKING, NamedTuple

from execlab.programs.syntax import MAX_DIGITS, fail, parse, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_STEPS = 10_000
_LIMIT = 10**MAX_DIGITS
_LIMIT_BITS = _LIMIT.bit_length()


class TraceStep(NamedTuple):
    """One executed line and the variables after it."""

    line: int
    variables: dict[str, int]


def execute(text: str) -> int:
    """The integer that the program prints."""
    machine = _Machine()
    for _ in machine.run(parse(text)):
        pass
    return machine.output


def trace(text: str) -> Iterator[TraceStep]:
    """A step for each executed line, in the order of execution; a loop's line counts once per round."""
    machine = _Machine()
    for line in machine.run(parse(text)):
        yield TraceStep(line, dict(machine.variables))


_COMPARISONS = {
    ast.Lt: operator.lt,
    ast.Gt: operator.gt,
    ast.LtE: operator.le,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


class _Machine:
    """The variables, the printed integer, and how many steps it took so far."""

    def __init__(self) -> None:
        self.variables: dict[str, int] = {}
        self.output = 0
        self.steps = 0

    def run(self, statements: Sequence[ast.stmt]) -> Iterator[int]:
        """Execute, yielding the number of each line when it is done."""
        for i, statement in enumerate(statements):
            if isinstance(statement, ast.For):
                yield from self._loop(statement)
            else:
                self._simple(statement)
                if i + 1 == len(statements) or statements[i + 1].lineno != statement.lineno:
                    yield statement.lineno

    def _loop(self, loop: ast.For) -> Iterator[int]:
        match loop:
            case ast.For(target=ast.Name(id=variable), iter=ast.Call(args=[bound])):
                count = self.value(bound)
            case _:
                raise AssertionError("syntax.py let another kind of loop pass")
        own_line = loop.body[0].lineno != loop.lineno
        done = 0
        while done < count:
            self.variables[variable] = done
            if own_line:
                yield loop.lineno
            yield from self.run(loop.body)
            done += 1
        if done == 0:
            yield loop.lineno

    def _simple(self, statement: ast.stmt) -> None:
        before_it = self.steps
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self.variables[name] = self.value(value)
            case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
                before = self._lookup(target)
                self.variables[name] = self._combine(target, before, op, self.value(value))
            case ast.Expr(value=ast.Call(args=[argument])):
                self.output = self.value(argument)
        if self.steps == before_it:
            self._step(statement)  # every statement is at least one step

    def value(self, node: ast.expr) -> int:
        """The value of an expression."""
        match node:
            case ast.Constant(value=int(number)):
                return number
            case ast.Name():
                return self._lookup(node)
            case ast.UnaryOp(op=op, operand=operand):
                self._step(node)
                number = self.value(operand)
                return -number if isinstance(op, ast.USub) else number
            case ast.BinOp(left=left, op=op, right=right):
                return self._combine(node, self.value(left), op, self.value(right))
            case ast.IfExp(test=ast.Compare() as test, body=body, orelse=orelse):
                return self.value(body) if self._holds(test) else self.value(orelse)
        raise AssertionError(f"syntax.py let {type(node).__name__} pass")

    def _holds(self, test: ast.Compare) -> bool:
        left = self.value(test.left)
        for op, comparator in zip(test.ops, test.comparators, strict=True):
            self._step(test)
            right = self.value(comparator)
            if not _COMPARISONS[type(op)](left, right):
                return False
            left = right
        return True

    def _lookup(self, name: ast.Name) -> int:
        try:
            return self.variables[name.id]
        except KeyError:
            fail(name, f"the variable {shown(name.id)} has no value yet; assign to it first")

    def _combine(self, node: ast.expr, left: int, op: ast.operator, right: int) -> int:
        match op:
            case ast.Add():
                self._step(node)
                number = left + right
            case ast.Sub():
                self._step(node)
                number = left - right
            case _:
                # A product of long integers takes long, so it counts as the many steps that it is.
                self._step(node, 1 + (left.bit_length() * right.bit_length() >> 20))
                number = left * right
        if number.bit_length() >= _LIMIT_BITS and abs(number) >= _LIMIT:
            fail(node, f"an integer grows too large; at most {MAX_DIGITS:,} digits are allowed")
        return number

    def _step(self, node: ast.expr | ast.stmt, cost: int = 1) -> None:
        self.steps += cost
        if self.steps > MAX_STEPS:
            fail(node, f"the program takes more than {MAX_STEPS:,} steps (operations or statements)")
