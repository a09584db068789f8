"""Random programs of the whole language, and the same program written in another way."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from execlab.randomness import below, shuffled

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

NAMES = [*"abcdefghijklmnopqrstuvwyz", "total", "v1", "w10", "count_2"]  # x is the loop's
SIGNS = ["+", "-", "*"]
COMPARISONS = ["<", ">", "<=", ">=", "==", "!="]


def random_program(rng: Random) -> str:
    """One to four statements and a print, as a person could type them; every variable that is read has a value."""
    names = shuffled(rng, NAMES)[:4]
    known: list[str] = []
    lines = []
    for _ in range(1 + below(rng, 4)):
        kind = below(rng, 4)
        if not known or kind == 0:
            name = names[below(rng, len(names))]
            lines.append(f"{name}={_expression(rng, known, 2)}")
            known = sorted({*known, name})
        elif kind == 1:
            lines.append(_update(rng, known, known))
        elif kind == 2:
            lines.append(f"{known[0]}={known[0]}{SIGNS[below(rng, 3)]}{_expression(rng, known, 1)}")
        else:
            variable = "xi"[below(rng, 2)]
            readable = [*known, variable] if below(rng, 3) == 0 else known
            body = [_update(rng, known, readable) for _ in range(1 + below(rng, 2))]
            lines.append(f"for {variable} in range({below(rng, 6)}):" + ";".join(body))
    return "\n".join([*lines, f"print({_expression(rng, known, 2)})"])


def _update(rng: Random, known: Sequence[str], readable: Sequence[str]) -> str:
    name = known[below(rng, len(known))]
    return f"{name}{SIGNS[below(rng, 3)]}={_expression(rng, readable, 1)}"


def _expression(rng: Random, known: Sequence[str], depth: int) -> str:
    """An expression, fully parenthesised."""
    kind = below(rng, 8) if depth else 7
    parts = [_expression(rng, known, depth - 1) for _ in range(4)] if kind < 7 else []
    if kind < 4:
        return f"({parts[0]}{SIGNS[kind % 3]}{parts[1]})"
    if kind == 4:
        return f"(-{parts[0]})"
    if kind < 7:
        middle = f"{parts[1]}{COMPARISONS[below(rng, 6)]}{parts[2]}"
        if below(rng, 4) == 0:
            middle += f"{COMPARISONS[below(rng, 6)]}{parts[0]}"
        return f"({parts[3]} if {middle} else {parts[0]})"
    if known and below(rng, 2):
        return known[below(rng, len(known))]
    return str(below(rng, 30))


def rewritten(rng: Random, text: str) -> str:
    """The same program with other names, other layout, and the operands of + and * in another order."""
    tree = ast.parse(text)
    names = sorted({node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - {"print", "range"})
    renamed = dict(zip(names, shuffled(rng, [*NAMES, "x"]), strict=False))
    tree = ast.fix_missing_locations(_Rewriter(rng, renamed).visit(tree))
    lines: list[str] = []
    for statement in tree.body:
        line = _statement(rng, statement)
        if lines and not isinstance(statement, ast.For) and not lines[-1].startswith(("for", " ")) and below(rng, 2):
            lines[-1] += [";", "; ", " ;"][below(rng, 3)] + line
        else:
            lines += line.split("\n")
    return "\n".join(line + ["", ";"][not line.endswith(":") and below(rng, 2)] for line in lines) + "\n"


class _Rewriter(ast.NodeTransformer):
    def __init__(self, rng: Random, renamed: dict[str, str]) -> None:
        self.rng, self.renamed = rng, renamed

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.renamed.get(node.id, node.id), node.ctx)

    def visit_BinOp(self, node: ast.BinOp) -> ast.BinOp:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Sub) and below(self.rng, 2):
            node.left, node.right = node.right, node.left
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        self.generic_visit(node)
        if below(self.rng, 2) or not isinstance(node.target, ast.Name):
            return node
        sides = [ast.Name(node.target.id, ast.Load()), node.value]
        if not isinstance(node.op, ast.Sub) and below(self.rng, 2):
            sides.reverse()
        return ast.Assign([node.target], ast.BinOp(sides[0], node.op, sides[1]))

    def visit_Compare(self, node: ast.Compare) -> ast.Compare:
        self.generic_visit(node)
        if below(self.rng, 2) and len(node.ops) == 1:
            sides = [node.left, *node.comparators][::-1]
            node.left, node.comparators = sides[0], sides[1:]
            node.ops = [_TURNED[type(op)]() for op in reversed(node.ops)]
        return node


_OPERATORS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}
_TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt,
    ast.Gt: ast.Lt,
    ast.LtE: ast.GtE,
    ast.GtE: ast.LtE,
    ast.Eq: ast.Eq,
    ast.NotEq: ast.NotEq,
}


def _statement(rng: Random, node: ast.stmt) -> str:
    match node:
        case ast.For(target=target, iter=ast.Call(args=[count]), body=body):
            head = f"for  {ast.unparse(target)} in range( {_written(rng, count)} ) :"
            inner = [_statement(rng, each) for each in body]
            return head + "; ".join(inner) if below(rng, 2) else "\n   ".join([head, *inner])
        case ast.Assign(targets=[target], value=value):
            return f"{ast.unparse(target)} = {_written(rng, value)}"
        case ast.AugAssign(target=target, op=op, value=value):
            return f"{ast.unparse(target)} {_OPERATORS[type(op)]}={_written(rng, value)}"
        case ast.Expr(value=ast.Call(args=[argument])):
            return f"print({_written(rng, argument)})"
    raise AssertionError(node)


def _written(rng: Random, node: ast.expr) -> str:
    """With as few parentheses as can be, or with needless ones and spaces."""
    if below(rng, 3) == 0:
        return ast.unparse(node)
    gap = " " * below(rng, 2)
    match node:
        case ast.BinOp(left=left, op=op, right=right):
            text = f"({_written(rng, left)}){gap}{_OPERATORS[type(op)]}{gap}({_written(rng, right)})"
        case ast.UnaryOp(operand=operand):
            text = f"-{gap}({_written(rng, operand)})"
        case ast.IfExp(test=ast.Compare(left=left, ops=ops, comparators=others), body=body, orelse=orelse):
            sides = [f"({_written(rng, left)})"]
            for comparison, other in zip(ops, others, strict=True):
                sign = COMPARISONS[list(_TURNED).index(type(comparison))]
                sides.append(f"{sign}{gap}({_written(rng, other)})")
            text = f"(({_written(rng, body)}) if {''.join(sides)} else ({_written(rng, orelse)}))"
        case _:
            text = ast.unparse(node)
    return f"({gap}{text})" if below(rng, 3) == 0 else text
