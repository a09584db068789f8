"""The generator: what FACTS say of the released code, the appendix's pseudocode, and three witnesses for each value."""

from __future__ import annotations

import ast
import re
from collections import Counter
from statistics import mean
from typing import TYPE_CHECKING

import pytest

from execlab.data.statistics import RELEASED_LENGTHS
from execlab.data.vocabulary import VOCABULARY, with_end_marks
from execlab.programs import Dialect, execute, generate_program
from execlab.programs.cpython import run_in_cpython
from execlab.programs.layout import indent_loops, join_loops
from execlab.programs.operations import APPENDIX, RELEASED
from execlab.randomness import stream

if TYPE_CHECKING:
    from execlab.tasks import Difficulty

DIALECTS: tuple[Dialect, ...] = ("released", "appendix")  # of the paper; everyday has tests of its own
SETTINGS = [(length, nesting) for length in range(1, 11) for nesting in range(1, 7)]


def programs(dialect: Dialect, count: int, first: int = 0) -> list[tuple[str, int]]:
    """`count` programs, evenly over lengths 1 to 10 and nestings 1 to 6."""
    made = []
    for i in range(first, first + count):
        length, nesting = SETTINGS[i % len(SETTINGS)]
        text, value, *_ = generate_program(stream("witnesses", dialect, i), length, nesting, dialect)
        made.append((text, value))
    return made


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(("first", "count"), [(0, 3_000), pytest.param(3_000, 17_000, marks=pytest.mark.long)])
def test_generator_interpreter_and_cpython_agree(dialect: Dialect, first: int, count: int) -> None:
    made = programs(dialect, count, first)
    assert [execute(text) for text, _ in made] == [value for _, value in made]
    assert run_in_cpython([text for text, _ in made]) == [str(value) for _, value in made]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_shape_of_programs(dialect: Dialect) -> None:
    for text, _ in programs(dialect, 1_200):
        tree = ast.parse(text)
        nodes = list(ast.walk(tree))
        calls = [n.func.id for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
        loops = [n for n in nodes if isinstance(n, ast.For)]
        assert calls.count("print") == 1, text
        assert text.split("\n")[-1].startswith("print(")
        assert not any(isinstance(inner, ast.For) for loop in loops for inner in loop.body), text
        assert set(text) <= set(VOCABULARY)
        # No dead code: what is assigned is read later, and no variable is assigned anew.
        fresh = [n.targets[0].id for n in nodes if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name)]
        assert len(set(fresh)) == len(fresh), text
        for name in fresh:
            assert re.search(rf"\b{name}\b", text.split(f"{name}=", 1)[1]), text
        assert set(fresh) <= set("abcdefghij")


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("length", [1, 4, 50])
def test_ranges_of_numbers(dialect: Dialect, length: int) -> None:
    literals, small = [], []
    for i in range(2_000):
        text, _, operations, *_ = generate_program(stream("ranges", i), length, 1, dialect)
        numbers = [int(number) for number in re.findall(r"\d+", text)]
        if operations == ["multiplication"]:
            small.append(min(numbers))
        elif operations == ["loop"]:
            small.append(int(re.findall(r"range\((\d+)\)", text)[0]))
        else:
            literals += numbers
    assert min(literals) >= 1
    assert max(literals) <= 10**length
    assert min(small) == 1
    assert max(small) <= 4 * length
    assert max(small) > 4 * length * 0.9
    if length == 1:
        assert set(literals) == set(range(1, 11))


@pytest.mark.parametrize("setting", RELEASED_LENGTHS)
def test_mean_length_and_operations_are_those_of_the_released_code(setting: Difficulty) -> None:
    made = [generate_program(stream("fidelity", i), *setting) for i in range(5_000)]
    lengths = [len(with_end_marks(text, str(value))) for text, value, *_ in made]
    assert mean(lengths) == pytest.approx(RELEASED_LENGTHS[setting][0], rel=0.03)
    shares = Counter(name for _, _, operations, *_ in made for name in operations)
    for operation in RELEASED:
        assert shares[operation.name] / shares.total() == pytest.approx(1 / 6, abs=0.02)


FORMS = {
    "addition": r"print\(\(\d+[+-]\d+\)\)",
    "multiplication": r"print\(\(\d+\*\d+\)\)",
    "identity": r"print\(\d+\)",
    "assignment": r"([a-j])=\d+;\nprint\(\(\1[+-]\d+\)\)",
    "loop": r"([a-j])=\d+\nfor x in range\(\d+\):\1[+-]=\d+\nprint\(\1\)",
    "conditional": r"print\(\(\d+ if \d+[<>]\d+ else \d+\)\)",
}
APPENDIX_FORMS = {
    **FORMS,
    "addition": r"print\(\(\d+\+\d+\)\)",
    "subtraction": r"print\(\(\d+-\d+\)\)",
    "assignment": r"([a-j])=\d+\nprint\(\1\)",
}


def test_every_form_of_a_single_operation() -> None:
    for dialect, forms, operations in (("released", FORMS, RELEASED), ("appendix", APPENDIX_FORMS, APPENDIX)):
        seen = Counter[str]()
        for i in range(1_200):
            text, _, names, *_ = generate_program(stream("forms", i), 4, 1, dialect)  # type: ignore[arg-type]
            assert re.fullmatch(forms[names[0]], text), (dialect, names, text)
            seen.update(names)
        assert set(seen) == {operation.name for operation in operations}


def test_both_sides_of_every_coin() -> None:
    texts = "\n".join(generate_program(stream("coins", i), 6, 1)[0] for i in range(600))
    for form in (r"\d\+\d", r"\d-\d", r"\+=", r"-=", "<", ">", r"\(\d{4,}\*\d{1,2}\)", r"\(\d{1,2}\*\d{4,}\)"):
        assert re.search(form, texts), form


def test_released_chain_reaches_every_operand_position() -> None:
    inner = r"\(\d+\*\d+\)"
    texts = "\n".join(generate_program(stream("positions", i), 4, 2)[0] for i in range(4_000))
    for form in (
        rf"\({inner} if \d+[<>]\d+ else \d+\)",
        rf"\(\d+ if {inner}[<>]\d+ else \d+\)",
        rf"\(\d+ if \d+[<>]{inner} else \d+\)",
        rf"\(\d+ if \d+[<>]\d+ else {inner}\)",
        rf"\({inner}[+-]\d+\)",
        rf"\(\d+[+-]{inner}\)",
        rf"[a-j]={inner}\nfor",
        rf":[a-j][+-]={inner}",
        rf"[a-j]={inner};",
        rf"\([a-j][+-]{inner}\)",
    ):
        assert re.search(form, texts), form


def test_released_programs_are_one_chain_and_appendix_ones_need_not_be() -> None:
    """Two operations that both produce code without one using the other can only meet through a stack."""
    two_chains = r"\(\(\d+\*\d+\)[+-]\(\d+\*\d+\)\)"
    counts = {
        dialect: sum(
            bool(re.search(two_chains, generate_program(stream("chains", i), 4, 4, dialect)[0])) for i in range(4_000)
        )
        for dialect in DIALECTS
    }
    assert counts["released"] == 0
    assert counts["appendix"] > 0


def test_the_appendix_pops_with_probability_one_half() -> None:
    """With two multiplications the second takes up the first in half of the cases."""
    popped = total = 0
    for i in range(8_000):
        text, _, names, *_ = generate_program(stream("pops", i), 4, 2, "appendix")
        if names == ["multiplication", "multiplication"]:
            total += 1
            popped += text.count("*") == 2
    assert total > 150
    assert popped / total == pytest.approx(0.5, abs=0.1)


def test_deepest_and_longest() -> None:
    for i in range(200):
        for dialect in DIALECTS:
            text, value, names, *_ = generate_program(stream("deepest", i), 50, 10, dialect)
            assert len(names) == 10
            assert execute(text) == value


def test_layouts_are_inverse_and_equal_in_value() -> None:
    for text, value in programs("released", 600):
        indented = indent_loops(text)
        assert join_loops(indented) == text
        assert execute(indented) == value
        assert ("\n  " in indented) == ("for " in text)
