"""The dialect that people type: three witnesses of every value, and everything that the issue of such programs is."""

from __future__ import annotations

import ast
import re

import pytest

from execlab.errors import ExeclabError
from execlab.programs import execute, generate_program
from execlab.programs.cpython import run_in_cpython
from execlab.programs.everyday import LARGEST, OPERATIONS, everyday
from execlab.programs.generator import choose_operations
from execlab.randomness import stream
from execlab.tasks import Difficulty, make_task

COUNT = 3_000


@pytest.fixture(scope="module")
def programs() -> list[tuple[str, int, list[str]]]:
    return [everyday(stream("everyday", i), 1 + i % 3, 1 + i % 5) for i in range(COUNT)]


def test_generator_interpreter_and_cpython_agree(programs: list[tuple[str, int, list[str]]]) -> None:
    assert [execute(text) for text, _, _ in programs] == [value for _, value, _ in programs]
    assert run_in_cpython([text for text, _, _ in programs]) == [str(value) for _, value, _ in programs]


def test_nesting_counts_operations_and_length_bounds_literals(programs: list[tuple[str, int, list[str]]]) -> None:
    for i, (text, value, operations) in enumerate(programs):
        assert len(operations) == 1 + i % 5, text
        assert max(map(len, re.findall(r"(?<![a-z])\d+", text))) <= max(1 + i % 3, 2), text
        assert abs(value) <= LARGEST * 10**6
        assert len(ast.parse(text).body) <= 9, text


PATTERNS = {
    "a bare literal": r"print\(\d+\)",
    "an update by its own name": r"\n(\w+) ?= ?\1 ?[-+*]",
    "an update": r"[-+*]=",
    "a product that is assigned": r"\*=",
    "spaces": r"\w = \w",
    "no spaces": r"\w=\w",
    "a negative literal": r"[(=*+-] ?-\d",
    "a minus before a variable": r"[(=*+-] ?-[a-z]",
    "parentheses": r"\(\w+ ?[-+] ?\w+\) ?\*",
    "several operations without parentheses": r"\w+ ?[-+*] ?\w+ ?[-+*] ?\w+",
    **{f"the comparison {sign}": rf"\w ?{sign} ?\w.* else" for sign in ("<", ">", "<=", ">=", "==", "!=")},
    "a bare conditional": r"print\([^(]+ if [^(]+ else [^(]+\)$",
    "a loop on one line": r"for \w+ in range\(\d+\): ?\w",
    "an indented loop": r"range\(\d+\):\n +\w.*\n\w",
    "a loop of two lines": r"range\(\d+\):\n +\w.*\n +\w",
    "a loop that reads its variable": r"for (\w+) in range\(\d+\):\s*\w+ ?\+?= ?.*\b\1\b",
    "semicolons": r"; ?\w",
    "words for names": r"[a-z]{3,} ?=",
    "three digits": r"\d{3}",
}


@pytest.mark.parametrize("what", PATTERNS)
def test_what_people_type_occurs(what: str, programs: list[tuple[str, int, list[str]]]) -> None:
    assert sum(bool(re.search(PATTERNS[what], text)) for text, _, _ in programs) >= COUNT / 500


def test_a_subset_of_the_operations() -> None:
    for i in range(300):
        text, _, operations = everyday(stream("subset", i), 2, 3, ["addition", "update"])
        assert set(operations) <= {"addition", "update"}
        assert " if " not in text
        assert "for " not in text
        assert "*" not in text


def test_as_a_task() -> None:
    task = make_task("program", {"dialect": "everyday", "work": "columns"})
    assert {"y", "!", "k"} <= set(task.symbols)
    for i in range(300):
        plain = task.draw(stream("task", i), Difficulty(2, 3))
        rendered = task.render(plain)
        assert task.plain(rendered.input) == plain.input
        assert task.solve(rendered.input) == rendered.target
        assert task.answer(rendered.target) == plain.target == str(execute(rendered.input))
    with pytest.raises(ExeclabError, match="draws both layouts"):
        make_task("program", {"dialect": "everyday", "layout": "indented"})
    with pytest.raises(ExeclabError, match="no operation of the dialect everyday 'sorting'; choose addition"):
        choose_operations("everyday", "sorting")
    assert [each.name for each in choose_operations("everyday", "all")] == list(OPERATIONS)
    assert generate_program(stream("same"), 2, 2, "everyday")[:3] == everyday(stream("same"), 2, 2)
