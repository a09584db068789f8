"""The work of programs: by hand, and against CPython statement by statement and column by column."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execlab.errors import ExeclabError
from execlab.programs import Dialect, generate_program
from execlab.programs.interpreter import Step, steps
from execlab.programs.work import END, parse_form, parts, work, write
from execlab.randomness import stream

FIGURE_1 = "j=8584\nfor x in range(8):\n  j+=920\nb=(1500+j)\nprint((b+7567))"

# Runs programs, and tells the value of every assignment and of the print in the order of execution.
WATCH = """
import ast, json, sys
class Watch(ast.NodeTransformer):
    def _note(self, node):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        call = ast.Expr(ast.Call(ast.Name("note", ast.Load()), [ast.Name(target.id, ast.Load())], []))
        return [node, ast.copy_location(call, node)]
    visit_Assign = visit_AugAssign = _note
every = []
for text in json.load(sys.stdin):
    noted = []
    tree = ast.fix_missing_locations(Watch().visit(ast.parse(text)))
    exec(compile(tree, "<program>", "exec"), {"note": noted.append, "print": noted.append})
    every.append(noted)
json.dump(every, sys.stdout)
"""


def watched(texts: list[str]) -> list[list[int]]:
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", WATCH], input=json.dumps(texts).encode(), capture_output=True
    )
    values: list[list[int]] = json.loads(done.stdout)
    return values


def programs(dialect: Dialect, count: int) -> list[str]:
    return [generate_program(stream("work", dialect, i), 1 + i % 5, 1 + i % 4, dialect)[0] for i in range(count)]


def test_figure_1_by_hand() -> None:
    sums = [9504, 10424, 11344, 12264, 13184, 14104, 15024, 15944, 17444, 25011]
    assert write(FIGURE_1, "results,reading") == "".join(f"{value};" for value in sums) + "25011"
    assert write(FIGURE_1, "results") == "".join(f"{str(value)[::-1]};" for value in sums) + "25011"
    assert write(FIGURE_1, "columns").startswith("+404820595809;+404022594900001;+404224493001101;")
    assert write(FIGURE_1, "columns").endswith(";+044044594157011;+471461450775102;25011")


@pytest.mark.parametrize(
    ("text", "form", "expected"),
    [
        ("print(7)", "columns", "7"),
        ("print((100-1))", "columns", ">019009100;99"),
        ("print((5-5))", "columns", ">550;0"),
        ("print(((2-5)-6))", "columns", "<523-;+369-;-9"),
        ("print(((2-5)+6))", "columns", "<523-;<633;3"),
        ("print((12*34))", "columns", "*280140;*260130;+808460034;408"),
        ("print((34*12))", "results,sums", "43;86;201;631;071;402;832;272;603;043;473;804;408"),
        ("print((34*12))", "results,whole,reading", "408;408"),
        ("print(((0-3)*4))", "columns", "<303-;*321;21-;-12"),
        ("print(((2+3) if 4>=4 else 9))", "columns", "=;+235;5;5"),
        ("print((9 if 4!=4 else 8))", "results", "=;8;8"),
        ("print((1 if 2<3<3 else 0))", "results", "<;=;0;0"),
        ("a=-3\na*=2\nprint(a)", "results,names", "a=3-;6;6-;a=6-;-6"),
        ("a=2;b=3\nprint(a)", "results,names", "a=2;b=3;2"),
    ],
)
def test_forms_by_hand(text: str, form: str, expected: str) -> None:
    assert write(text, form) == expected


@pytest.mark.parametrize("dialect", ["released", "appendix", "everyday"])
@pytest.mark.parametrize("count", [1_500, pytest.param(33_400, marks=pytest.mark.long)])
def test_the_work_agrees_with_cpython_statement_by_statement(dialect: Dialect, count: int) -> None:
    texts = programs(dialect, count)
    for text, values in zip(texts, watched(texts), strict=True):
        written = write(text, "results,reading,names")
        assigned = [int(part.partition("=")[2]) for part in written.split(END) if part[:1].isalpha()]
        assert [*assigned, int(written.rpartition(END)[2])] == values, text


def number(digits: str) -> int:
    return int(digits[::-1])


signed = st.integers(-(10**6), 10**6) | st.integers(-20, 20)


@given(a=signed, b=signed, sign=st.sampled_from("+-"))
def test_columns_of_a_sum_say_what_is_added(a: int, b: int, sign: str) -> None:
    value = a + b if sign == "+" else a - b
    (part,) = parts([Step(sign, a, b, value)], parse_form("columns"))
    how, digits, minus = part[0], part[1:].removesuffix("-"), part.endswith("-")
    first, second, result = (number(digits[i::3]) for i in range(3))
    assert sorted([first, second]) == sorted([abs(a), abs(b)])
    assert result == (first + second if how == "+" else first - second)
    assert value == (-result if minus else result)
    assert how == "+" or (how == ">") == (abs(a) >= abs(b))


@given(a=signed, b=signed)
def test_columns_of_a_product_say_what_is_multiplied(a: int, b: int) -> None:
    *done, last = parts([Step("*", a, b, a * b)], parse_form("columns"))
    products = [part for part in (*done, last) if part.startswith("*")]
    by = min(abs(b), abs(a), key=lambda factor: len(str(factor)))
    total = 0
    for shift, (part, digit) in enumerate(zip(products, reversed(str(by)), strict=True)):
        carry = 0
        for place in range(1, len(part), 3):
            carry, result = divmod(int(part[place]) * int(digit) + carry, 10)
            assert part[place + 1 : place + 3] == f"{result}{carry}"
        total += number(part[2::3] + part[-1]) * 10**shift
    assert total == abs(a * b)
    shown = number(last.removesuffix("-")) if last.endswith("-") else a * b
    assert (a * b < 0) == last.endswith("-")
    assert abs(shown) == abs(a * b)


@pytest.mark.parametrize("dialect", ["released", "appendix"])
def test_the_generators_tree_is_that_of_its_text(dialect: Dialect) -> None:
    for i in range(1_500):
        program = generate_program(stream("tree", i), 1 + i % 5, 1 + i % 5, dialect)
        assert steps(program.tree) == steps(program.text), program.text


def test_the_work_is_made_of_the_interpreters_steps() -> None:
    done = steps("a=3\nfor x in range(2):a+=5\nprint((a if a>9 else 0))")
    assert [step.sign for step in done] == ["=", "+", "=", "+", "=", ">", "if", "print"]
    assert work(done, parse_form("results,reading")) == "8;13;>;13;"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rows", "'rows' is no form of it; choose none, or results, columns"),
        ("sums", "must name one of results and columns"),
        ("results,columns", "must name one of results and columns"),
        ("columns,sums,shift", "nothing twice"),
        ("", "is no form"),
    ],
)
def test_unknown_forms(text: str, message: str) -> None:
    with pytest.raises(ExeclabError, match=message):
        parse_form(text)
