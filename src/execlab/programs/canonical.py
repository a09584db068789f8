"""The canonical form of a program: what two programs share that differ only in names, layout or order of operands.

It decides a program's split, so that no program is trained on under another name and then tested. It is a program of
the same language that prints the same, and it is its own canonical form. These are identified:

- layout, spaces, semicolons, comments, needless parentheses, a plus sign in front, `1_000` and `1000`;
- names: variables are `v1`, `v2`, ... in the order in which they are first assigned. The name of a loop variable that
  is never read does not count; it is `x`;
- the order of the operands of + and *, also along a chain. A sum is a set of signed terms and a product a set of
  factors, so `a-b+c`, `c+a-b` and `a-(b-c)` are the same, and so are `-(a*b)` and `-a*b`;
- `v+=a` and `v=v+a` (likewise -= and *=);
- `a>b` and `b<a`, `a>=b` and `b<=a`, and the sides of == and !=.

Not identified are programs whose equality takes computing (`2+2` and `4`), distributing (`2*(a+b)`), reordering or
inlining statements, negating a condition, or reading a chain of comparisons from its other end.

`generator.py` writes the same form beside every program that it draws, with `forms.py`; this is the other way to it,
from the syntax tree of any text.

>>> print(canonical("j=8584;\\nfor i in range(8):\\n  j -= (920 - 7)\\nprint(((25 if 30>j else j)*3))"))
v1=8584
for x in range(8):v1=7+v1-920
print((25 if v1<30 else v1)*3)
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from execlab.programs.forms import variable
from execlab.programs.operations import LOOP_VARIABLE
from execlab.programs.syntax import parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

UNASSIGNED = "v0"  # of every variable that is read, in a branch that is never taken, and never assigned


def canonical(text: str) -> str:
    """The canonical form of a program; raises ProgramError where the text is none."""
    statements = parse(text)
    writer = _Writer(statements)
    return "\n".join(map(writer.statement, statements))


class _Writer:
    """What each variable is called, and the text of every node."""

    def __init__(self, statements: Sequence[ast.stmt]) -> None:
        nodes = [node for statement in statements for node in ast.walk(statement)]
        self.read = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        self.read |= {_name(node.target) for node in nodes if isinstance(node, ast.AugAssign)}
        # By assignments alone, which keep their order: the order in which operands stand must not matter.
        assigned = [name for statement in statements for name in self._assigned(statement)]
        self.names = {name: variable(i) for i, name in enumerate(dict.fromkeys(assigned), 1)}

    def _assigned(self, statement: ast.stmt) -> list[str]:
        match statement:
            case ast.For(target=target, body=body):
                inner = [name for each in body for name in self._assigned(each)]
                return [_name(target), *inner] if _name(target) in self.read else inner
            case ast.Assign(targets=[target]) | ast.AugAssign(target=target):
                return [_name(target)]
        return []

    def statement(self, node: ast.stmt) -> str:
        """The canonical text of a statement."""
        match node:
            case ast.For(target=target, iter=ast.Call(args=[count]), body=body):
                variable = self.names[_name(target)] if _name(target) in self.read else LOOP_VARIABLE
                return f"for {variable} in range({self.form(count)}):{';'.join(map(self.statement, body))}"
            case ast.Assign(targets=[target], value=value):
                return f"{self.names[_name(target)]}={self.form(value)}"
            case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
                before = ast.Name(name, ast.Load())
                return f"{self.names[name]}={self.form(ast.BinOp(before, op, value))}"
            case ast.Expr(value=ast.Call(args=[argument])):
                return f"print({self.form(argument)})"
        raise AssertionError(f"syntax.py let {type(node).__name__} pass")

    def form(self, node: ast.expr) -> str:
        """The canonical text of an expression."""
        return "".join(sorted(self._terms(node, "+"))).removeprefix("+")

    def _terms(self, node: ast.expr, sign: str) -> Iterator[str]:
        """What is added up to this expression, with signs."""
        match node:
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
                yield from self._terms(left, sign)
                yield from self._terms(right, sign if isinstance(op, ast.Add) else _OTHER[sign])
            case ast.UnaryOp(op=op, operand=operand):
                yield from self._terms(operand, sign if isinstance(op, ast.UAdd) else _OTHER[sign])
            case ast.BinOp():
                factors = sorted(self._factors(node))
                minuses = factors.count(_MINUS)
                yield (_OTHER[sign] if minuses % 2 else sign) + "*".join(factors[minuses:])
            case _:
                yield sign + self._atom(node)

    def _factors(self, node: ast.expr) -> Iterator[str]:
        """What is multiplied to this expression, minus signs among it."""
        match node:
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                yield from self._factors(left)
                yield from self._factors(right)
            case ast.UnaryOp(op=op, operand=operand):
                if isinstance(op, ast.USub):
                    yield _MINUS
                yield from self._factors(operand)
            case ast.BinOp():
                yield f"({self.form(node)})"
            case _:
                yield self._atom(node)

    def _atom(self, node: ast.expr) -> str:
        match node:
            case ast.Constant(value=value):
                return str(value)
            case ast.Name(id=name):
                return self.names.get(name, UNASSIGNED)
            case ast.IfExp(test=ast.Compare() as test, body=body, orelse=orelse):
                return f"({self.form(body)} if {self._condition(test)} else {self.form(orelse)})"
        raise AssertionError(f"syntax.py let {type(node).__name__} pass")

    def _condition(self, test: ast.Compare) -> str:
        sides = [self.form(side) for side in (test.left, *test.comparators)]
        signs = [_SIGNS[type(op)] for op in test.ops]
        if len(signs) == 1 and (signs[0] in _TURNED or (signs[0] in _EVEN and sides[1] < sides[0])):
            sides.reverse()
            signs = [_TURNED.get(signs[0], signs[0])]
        return sides[0] + "".join(sign + side for sign, side in zip(signs, sides[1:], strict=True))


_MINUS = ""  # the smallest text
_OTHER = {"+": "-", "-": "+"}
_SIGNS = {ast.Lt: "<", ast.Gt: ">", ast.LtE: "<=", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
_TURNED = {">": "<", ">=": "<="}
_EVEN = ("==", "!=")


def _name(target: ast.expr) -> str:
    match target:
        case ast.Name(id=name):
            return name
    raise AssertionError("syntax.py let another target pass")
