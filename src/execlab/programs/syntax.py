"""What a program may say: text in, a checked syntax tree out, or an error with line and column.

The text is read by Python's own parser and then compared, node by node, with the short list of what is allowed. What
passes is Python that CPython runs unchanged; nothing here is ever compiled or run.

>>> parse("a=3\\nprint(a.real)")
Traceback (most recent call last):
execlab.programs.syntax.ProgramError: line 2, column 8: '.' is not part of this language; a program is written with \
letters, digits, spaces and + - * ( ) < > = ! : ; _
>>> parse("print(7//2)")
Traceback (most recent call last):
execlab.programs.syntax.ProgramError: line 1, column 8: '/' is not part of this language; a program is written with \
letters, digits, spaces and + - * ( ) < > = ! : ; _
"""

from __future__ import annotations

import ast
import re
from typing import NoReturn

from execlab.errors import ExeclabError

MAX_CHARACTERS = 10_000
MAX_DIGITS = 4_300  # CPython prints no longer integer either
MAX_DEPTH = 100

STATEMENTS = (
    "a statement is v=expression, v+=expression (or -=, *=), for x in range(n): with a body of assignments, "
    "or the final print(expression)"
)
EXPRESSIONS = "an expression is made of integers, variables, + - *, parentheses, unary minus and (c if a>b else d)"
CHARACTERS = "a program is written with letters, digits, spaces and + - * ( ) < > = ! : ; _"
CONDITIONS = "a condition compares integers with < > <= >= == or !="


class ProgramError(ExeclabError):
    """A program that is outside the language or its limits; says where."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(f"line {line}, column {column}: {message}")
        self.message, self.line, self.column = message, line, column


def parse(text: str) -> list[ast.stmt]:
    """The program's statements, every node of them allowed."""
    source = _check_text(text)
    try:
        # No warning can arise: strings, backslashes and numbers that touch a letter are refused before.
        statements = ast.parse(source).body
    except SyntaxError as error:
        line, column = _place(source, error)
        raise ProgramError(f"this is not valid Python ({(error.msg or '')[:60]}); {STATEMENTS}", line, column) from None
    except (MemoryError, RecursionError, ValueError, OverflowError):
        raise ProgramError(f"this is nested too deeply; at most {MAX_DEPTH} levels are allowed", 1, 1) from None
    _check_depth(statements)
    _check_program(statements, source)
    return statements


def fail(node: ast.expr | ast.stmt, message: str) -> NoReturn:
    """Refuse this node."""
    raise ProgramError(message, node.lineno, node.col_offset + 1)


def shown(name: str) -> str:
    """At most 40 characters of what the user wrote."""
    return repr(name if len(name) <= 40 else name[:37] + "...")


# Text, before Python's parser sees it ------------------------------------------------------------------------------

_FOREIGN = re.compile(r"[^A-Za-z0-9_+\-*()<>=!:;, \t\n]")
_COMMENT = re.compile(r"#[^\n]*")
_NEVER = re.compile("[\x00\ud800-\udfff]")  # not even in a comment: Python would not read such a text
_NUMBER = re.compile(r"(?<![A-Za-z0-9_])[0-9][0-9_]*", re.ASCII)
_TOUCHING_NUMBER = re.compile(r"(?<![A-Za-z0-9_])[0-9][0-9_]*[A-Za-z]", re.ASCII)


def _check_text(text: str) -> str:
    """The text with plain newlines and blanked comments, if every character of it may stand there."""
    if len(text) > MAX_CHARACTERS:
        raise _at(
            text,
            MAX_CHARACTERS,
            f"the program has more than {MAX_CHARACTERS:,} characters, which is the most that is allowed",
        )
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    source = _COMMENT.sub(lambda comment: " " * len(comment.group()), text)
    if found := _NEVER.search(text) or _FOREIGN.search(source):
        character = found.group()
        name = shown(character) if character.isprintable() else f"the character U+{ord(character):04X}"
        message = f"{name} is not part of this language; {CHARACTERS}"
        if character == "." and not source[found.end() :].strip():
            message = "leave out the final '.': it is the end mark that only the model sees"
        raise _at(source, found.start(), message)
    if found := next((n for n in _NUMBER.finditer(source) if len(n.group().replace("_", "")) > MAX_DIGITS), None):
        raise _at(source, found.start(), f"this integer is too long; at most {MAX_DIGITS:,} digits are allowed")
    if found := _TOUCHING_NUMBER.search(source):
        raise _at(
            source,
            found.end() - 1,
            "a letter follows a number directly; integers are plain decimal digits, and a space ends them",
        )
    return source


def _at(text: str, index: int, message: str) -> ProgramError:
    before = text[:index]
    return ProgramError(message, before.count("\n") + 1, index - (before.rfind("\n") + 1) + 1)


def _place(source: str, error: SyntaxError) -> tuple[int, int]:
    """Where Python's parser stopped, kept within the text."""
    lines = source.split("\n")
    line = min(max(error.lineno or 1, 1), len(lines))
    column = min(max(error.offset or 1, 1), len(lines[line - 1]) + 1)
    return line, column


# The tree ----------------------------------------------------------------------------------------------------------


def _check_depth(statements: list[ast.stmt]) -> None:
    """Refuse trees that are too deep to walk by recursion."""
    level: list[tuple[ast.AST, ast.stmt]] = [(statement, statement) for statement in statements]
    for _ in range(MAX_DEPTH):
        level = [(child, top) for node, top in level for child in ast.iter_child_nodes(node)]
        if not level:
            return
    fail(level[0][1], f"this is nested too deeply; at most {MAX_DEPTH} levels are allowed")


def _check_program(statements: list[ast.stmt], source: str) -> None:
    """Statements in the order that a program has them: assignments and loops, then the one print."""
    for statement in statements:
        if _is_print(statement):
            if statement is not statements[-1]:
                following = statements[statements.index(statement) + 1]
                fail(following, "print(...) comes last, so nothing can follow it")
            _check_print(statement)
        elif isinstance(statement, ast.For):
            _check_loop(statement)
        else:
            _check_assignment(statement)
    if not statements or not _is_print(statements[-1]):
        raise _at(source, len(source), "the program must end in exactly one print(...)")


def _is_print(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Name(id="print"))):
            return True
    return False


def _check_print(statement: ast.stmt) -> None:
    match statement:
        case ast.Expr(value=ast.Call(args=[ast.expr() as argument], keywords=[])):
            _check_expression(argument)
        case _:
            fail(statement, "print takes exactly one expression")


def _check_loop(loop: ast.For) -> None:
    match loop.iter:
        case ast.Call(func=ast.Name(id="range"), args=[ast.expr() as count], keywords=[]):
            _check_expression(count)
        case _:
            fail(loop.iter, "a loop runs over range(n) with one expression n")
    _check_target(loop.target)
    if loop.orelse:
        fail(loop.orelse[0], "a loop has no else; only assignments in its body are allowed")
    for statement in loop.body:
        if isinstance(statement, ast.For):
            fail(statement, "a loop inside a loop is not allowed; the body holds assignments only")
        if _is_print(statement):
            fail(statement, "print(...) comes once, after the loop; the body holds assignments only")
        _check_assignment(statement)


def _check_assignment(statement: ast.stmt) -> None:
    match statement:
        case ast.Assign(targets=[target], value=value):
            _check_target(target)
            _check_expression(value)
        case ast.AugAssign(target=target, op=ast.Add() | ast.Sub() | ast.Mult(), value=value):
            _check_target(target)
            _check_expression(value)
        case _:
            fail(statement, f"this statement is not allowed; {STATEMENTS}")


def _check_target(target: ast.expr) -> None:
    match target:
        case ast.Name(id="print" | "range" as name):
            fail(target, f"{name} has a meaning already; assign to another name")
        case ast.Name(id=name) if name.startswith("_"):
            fail(target, "a variable starts with a letter")
        case ast.Name():
            return
        case _:
            fail(target, "only a single variable can be assigned to")


def _check_expression(node: ast.expr) -> None:
    match node:
        case ast.Constant(value=value) if type(value) is int:
            return
        case ast.Name(id="print" | "range" as name):
            fail(node, f"{name} is not a value; {EXPRESSIONS}")
        case ast.Name():
            return
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            _check_expression(operand)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult(), right=right):
            _check_expression(left)
            _check_expression(right)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            _check_condition(test)
            _check_expression(body)
            _check_expression(orelse)
        case ast.Compare():
            fail(node, "a comparison stands only in a condition, as in (c if a>b else d)")
        case _:
            fail(node, f"this is not allowed here; {EXPRESSIONS}")


def _check_condition(node: ast.expr) -> None:
    if not isinstance(node, ast.Compare):
        fail(node, f"this is not a condition; {CONDITIONS}")
    for operator in node.ops:
        if not isinstance(operator, ast.Lt | ast.Gt | ast.LtE | ast.GtE | ast.Eq | ast.NotEq):
            fail(node, CONDITIONS)
    for operand in (node.left, *node.comparators):
        _check_expression(operand)
