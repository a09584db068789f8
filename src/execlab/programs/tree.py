"""What the interpreter walks: a program as nested tuples, made from the syntax tree of a text or by the generator.

An expression is an integer, or a tuple that begins with what it is: `name`, `+`, `-`, `*`, `neg`, `pos` or `if`. A
statement is one that begins with `=`, `+=`, `-=`, `*=`, `for` or `print`. The last entry is where it stands, line and
column, for errors and traces; the generator, whose programs have no errors, leaves it out as None.

>>> from execlab.programs.syntax import parse
>>> build(parse("a=2\\nprint((a*3))"))
(('=', 'a', 2, (1, 1)), ('print', ('*', ('name', 'a', (2, 8)), 3, (2, 8)), (2, 1)))
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

Expression: TypeAlias = Any  # int | tuple
Statement: TypeAlias = tuple[Any, ...]

SIGNS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.UAdd: "pos",
    ast.USub: "neg",
    ast.Lt: "<",
    ast.Gt: ">",
    ast.LtE: "<=",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}


def build(statements: Iterable[ast.stmt]) -> tuple[Statement, ...]:
    """The tree of statements that `syntax.parse` has let pass."""
    return tuple(map(_statement, statements))


def _where(node: ast.stmt | ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset + 1


def _statement(node: ast.stmt) -> Statement:
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            return "=", name, expression(value), _where(node)
        case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
            return f"{SIGNS[type(op)]}=", name, expression(value), _where(node)
        case ast.For(target=ast.Name(id=name), iter=ast.Call(args=[count]), body=body):
            return "for", name, expression(count), build(body), _where(node)
        case ast.Expr(value=ast.Call(args=[argument])):
            return "print", expression(argument), _where(node)
    raise AssertionError(f"syntax.py let {type(node).__name__} pass")


def expression(node: ast.expr) -> Expression:
    """The tree of an expression."""
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.Name(id=name):
            return "name", name, _where(node)
        case ast.UnaryOp(op=op, operand=operand):
            return SIGNS[type(op)], expression(operand), _where(node)
        case ast.BinOp(left=left, op=op, right=right):
            return SIGNS[type(op)], expression(left), expression(right), _where(node)
        case ast.IfExp(test=ast.Compare() as test, body=body, orelse=orelse):
            sides = [expression(side) for side in (test.left, *test.comparators)]
            signs = [SIGNS[type(op)] for op in test.ops]
            comparison = sides[0], tuple(zip(signs, sides[1:], strict=True)), _where(test)
            return "if", comparison, expression(body), expression(orelse), _where(node)
    raise AssertionError(f"syntax.py let {type(node).__name__} pass")
