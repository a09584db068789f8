"""Whether a dialect's generator could have written a program, up to a difficulty; if not, what is outside.

A network answers anything with confidence. What it was never trained on is better said before its answer is shown.

>>> outside("print((2+2))", "released", Difficulty(4, 1))
>>> outside("print(2+2)", "released", Difficulty(4, 1))
'it is written as print((2+2)) in the programs that the model was trained on'
>>> outside("print((12345+2))", "released", Difficulty(4, 1))
'it has the number 12345, and the model was trained on numbers from 1 to 10000'
>>> outside("y=2\\nprint(y+banana)", "everyday", Difficulty(2, 2))
"it has the name 'banana', which the model has never read"
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from execlab.programs.everyday import LETTERS, LOOP_NAMES, MOST_ROUNDS, MOST_STATEMENTS, WORDS
from execlab.programs.layout import join_loops
from execlab.programs.operations import LOOP_VARIABLE, VARIABLES
from execlab.programs.syntax import parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from execlab.programs.generator import Dialect


class Difficulty(NamedTuple):
    """As tasks have it; this package stands below them."""

    length: int
    nesting: int


SIGNS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Lt: "<",
    ast.Gt: ">",
    ast.LtE: "<=",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
MOST_ASSIGNED = 3 + MOST_STATEMENTS  # statements of everyday before the print


def outside(text: str, dialect: Dialect, goal: tuple[int, int]) -> str | None:
    """The first thing that the generator would not have written, as a sentence; None if there is none."""
    statements = parse(text)
    rules = _everyday if dialect == "everyday" else _paper
    return next(rules(text, statements, dialect, *goal), None)


def operations_of(statements: Sequence[ast.stmt]) -> int:
    """How many operations a program is made of, as generators count them."""
    nodes = [node for statement in statements for node in ast.walk(statement)]
    loops = [node for node in nodes if isinstance(node, ast.For)]
    inside = sum(1 for loop in loops for _ in loop.body)
    updates = sum(isinstance(node, ast.AugAssign) for node in nodes)
    in_bodies = [node for loop in loops for line in loop.body for node in ast.walk(line)]
    written_out = sum(isinstance(node, ast.BinOp) for node in in_bodies)  # v=v+a counts as v+=a does
    others = sum(isinstance(node, ast.BinOp | ast.IfExp) for node in nodes) - written_out
    updates_in_bodies = sum(isinstance(node, ast.AugAssign) for node in in_bodies)
    return others + updates - updates_in_bodies + max(inside, len(loops))


def _names(statements: Sequence[ast.stmt]) -> list[str]:
    every = [node.id for statement in statements for node in ast.walk(statement) if isinstance(node, ast.Name)]
    return [name for name in dict.fromkeys(every) if name not in ("print", "range")]


def _numbers(statements: Sequence[ast.stmt]) -> list[int]:
    nodes = (node for statement in statements for node in ast.walk(statement))
    return [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, int)]


def _count(used: int, nesting: int) -> Iterator[str]:
    if used > nesting:
        yield f"it has {used} operations, and the model was trained on {nesting}"


def _paper(text: str, statements: Sequence[ast.stmt], dialect: Dialect, length: int, nesting: int) -> Iterator[str]:
    """The two dialects of the paper write every program in just one way."""
    largest, small = 10**length, 4 * length
    for name in _names(statements):
        if name not in VARIABLES + LOOP_VARIABLE:
            yield f"it has the name {name!r}, and the model knows {', '.join(VARIABLES)} and {LOOP_VARIABLE}"
    for node in (node for statement in statements for node in ast.walk(statement)):
        match node:
            case ast.UnaryOp():
                yield "it has a sign before a number or a variable, which the model has never read"
            case ast.Compare(ops=ops) if len(ops) > 1 or not isinstance(ops[0], ast.Lt | ast.Gt):
                yield f"it compares with {SIGNS[type(ops[-1])]}, and the model knows one < or > at a time"
            case ast.BinOp(op=ast.Mult(), left=left, right=right) if not any(map(_is_literal, (left, right))):
                yield "it multiplies two results, and the model knows products by a small number"
            case ast.AugAssign(op=ast.Mult()):
                yield "it has *=, and the model knows += and -= in loops"
    yield from _count(operations_of(statements), nesting)
    for number in _numbers(statements):
        if not 1 <= number <= largest:
            yield f"it has the number {number}, and the model was trained on numbers from 1 to {largest}"
    for count in _small_numbers(statements):
        if count > small:
            yield f"it repeats or multiplies {count} times, and the model was trained on up to {small}"
    try:
        written = "".join(_spell(statements, dialect))
    except _UnknownShapeError as error:
        yield str(error)
        return
    if join_loops(text) != written:
        yield f"it is written as {written} in the programs that the model was trained on"


class _UnknownShapeError(Exception):
    """A statement that a dialect never has."""


def _is_literal(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant)


def _small_numbers(statements: Sequence[ast.stmt]) -> Iterator[int]:
    """Loop counts, and the smaller literal of a product."""
    for node in (node for statement in statements for node in ast.walk(statement)):
        match node:
            case ast.For(iter=ast.Call(args=[ast.Constant(value=int(count))])):
                yield count
            case ast.BinOp(op=ast.Mult(), left=left, right=right):
                literals = (side.value for side in (left, right) if isinstance(side, ast.Constant))
                yield min(value for value in literals if isinstance(value, int))


def _spell(statements: Sequence[ast.stmt], dialect: Dialect) -> Iterator[str]:
    """A program as the paper's dialects write it."""
    for i, statement in enumerate(statements):
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                loop = statements[i + 1]
                starts_loop = isinstance(loop, ast.For) and _updated(loop) == name
                end = "" if starts_loop or dialect == "appendix" else ";"
                yield f"{name}={_expression(value)}{end}\n"
            case ast.For(
                iter=ast.Call(args=[ast.Constant(value=int(count))]), body=[ast.AugAssign(op=op, value=value)]
            ):
                name = _updated(statement)
                before = statements[i - 1] if i else None
                match before:
                    case ast.Assign(targets=[ast.Name(id=assigned)]) if assigned == name:
                        yield f"for {LOOP_VARIABLE} in range({count}):{name}{SIGNS[type(op)]}={_expression(value)}\n"
                    case _:
                        raise _UnknownShapeError("its loop does not follow the line that sets its variable")
            case ast.Expr(value=ast.Call(args=[value])):
                yield f"print({_expression(value)})"
            case ast.For():
                raise _UnknownShapeError("its loop is not of the form for x in range(8):v+=2, as in training")
            case _:
                raise _UnknownShapeError("it changes a variable outside a loop, which the model has never read")


def _updated(loop: ast.For) -> str:
    match loop.body:
        case [ast.AugAssign(target=ast.Name(id=name))]:
            return name
    return ""


def _expression(node: ast.expr) -> str:
    match node:
        case ast.Constant(value=int(value)):
            return str(value)
        case ast.Name(id=name):
            return name
        case ast.BinOp(left=left, op=op, right=right):
            return f"({_expression(left)}{SIGNS[type(op)]}{_expression(right)})"
        case ast.IfExp(test=ast.Compare(left=left, ops=[op], comparators=[right]), body=body, orelse=orelse):
            test = f"{_expression(left)}{SIGNS[type(op)]}{_expression(right)}"
            return f"({_expression(body)} if {test} else {_expression(orelse)})"
    raise AssertionError(f"syntax.py let {type(node).__name__} pass")


def _everyday(text: str, statements: Sequence[ast.stmt], _: Dialect, length: int, nesting: int) -> Iterator[str]:
    """What people type, within bounds."""
    known = {*LETTERS, *WORDS, *LOOP_NAMES}
    for name in _names(statements):
        if name not in known:
            yield f"it has the name {name!r}, which the model has never read"
    if "#" in text:
        yield "it has a comment, which the model has never read"
    for node in (node for statement in statements for node in ast.walk(statement)):
        match node:
            case ast.Compare(ops=ops) if len(ops) > 1:
                yield "it compares more than two numbers at once, which the model has never read"
            case ast.For(body=body) if len(body) > 2:
                yield f"its loop has {len(body)} lines, and the model was trained on two"
            case ast.For(iter=ast.Call(args=[ast.Constant(value=int(count))])) if count > MOST_ROUNDS:
                yield f"its loop has {count} rounds, and the model was trained on up to {MOST_ROUNDS}"
            case ast.For(iter=ast.Call(args=[ast.BinOp() | ast.IfExp() | ast.UnaryOp()])):
                yield "it computes how long its loop is, which the model has never read"
            case ast.UnaryOp(op=ast.UAdd()):
                yield "it has a plus sign before a number, which the model has never read"
    for number in _numbers(statements):
        if number >= max(10**length, MOST_ROUNDS + 1):
            yield f"it has the number {number}, and the model was trained on up to {length} digits"
    yield from _count(operations_of(statements), nesting)
    if len(statements) - 1 > MOST_ASSIGNED:
        yield f"it has {len(statements)} statements, and the model was trained on {MOST_ASSIGNED + 1}"
