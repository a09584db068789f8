"""The contract of every task in the registry, and what is particular to each."""

from __future__ import annotations

import re
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execlab.data.splits import split_of
from execlab.data.vocabulary import END_MARK, vocabulary_with
from execlab.errors import ExeclabError
from execlab.randomness import stream
from execlab.tasks import TASKS, Difficulty, Sample, check_difficulty, make_task
from execlab.tasks.memorization import MemorizationTask

VARIANTS: list[tuple[str, dict[str, Any]]] = [
    *(("program", {"dialect": d, "layout": y}) for d in ("released", "appendix") for y in ("line", "indented")),
    ("addition", {}),
    ("addition", {"unequal": True}),
    ("program", {"operations": "conditional,loop", "modulus": 3, "layout": "indented"}),
    ("program", {"dialect": "appendix", "operations": "subtraction"}),
    ("program", {"dialect": "everyday"}),
    ("program", {"work": "columns"}),
    ("program", {"dialect": "everyday", "work": "results,sums,names"}),
    *(("memorization", {"invert": i, "double": d}) for i, d in product([False, True], repeat=2)),
]


def test_every_task_of_the_registry_is_tested() -> None:
    assert {name for name, _ in VARIANTS} == set(TASKS)


@pytest.mark.parametrize(("name", "options"), VARIANTS)
def test_contract(name: str, options: dict[str, Any]) -> None:
    task = make_task(name, options)
    assert task.name == name
    characters = set(vocabulary_with(task.symbols)) - {END_MARK}
    tables = {"program": {"operation"}, "addition": {"carries", "longest_carry_chain"}, "memorization": set[str]()}
    for i in range(300):
        difficulty = Difficulty(1 + i % task.hardest.length, 1 + i % task.hardest.nesting)
        plain = task.draw(stream("contract", i), difficulty)
        assert plain == task.draw(stream("contract", i), difficulty)
        rendered = task.render(plain)
        assert task.plain(rendered.input) == plain.input
        assert plain.canonical in ("", task.canonical(plain.input))
        assert task.solve(rendered.input) == rendered.target
        assert task.answer(rendered.target) == plain.target
        assert set(plain.target) <= set(task.outputs)
        assert re.fullmatch("-?[0-9]+", plain.target)
        assert set(rendered.input + rendered.target) <= characters
        assert task.outside(plain.input, difficulty) is None
        assert str(difficulty.length) in task.describe(difficulty)
        groups = task.groups(rendered)
        assert set(groups) == tables[name]
        assert all(row and isinstance(row, str) for rows in groups.values() for row in rows)
        assert all(groups.values())
        assert split_of(name, plain.input) == split_of(name, task.plain(rendered.input))


@pytest.mark.parametrize("name", TASKS)
def test_difficulties(name: str) -> None:
    task = make_task(name, {})
    longest, deepest = {"program": (50, 10), "addition": (50, 1), "memorization": (200, 1)}[name]
    assert check_difficulty(task, Difficulty(longest, deepest)) == task.hardest
    assert check_difficulty(task, Difficulty(1)) == (1, 1)
    for length, nesting in [(0, 1), (-1, 1), (longest + 1, 1), (1, 0), (1, deepest + 1)]:
        with pytest.raises(ExeclabError, match=r"length is|nesting is"):
            check_difficulty(task, Difficulty(length, nesting))


@pytest.mark.parametrize("length", [1, 2, 9, 50])
def test_operands_of_addition_have_exactly_length_digits(length: int) -> None:
    task = make_task("addition", {})
    for i in range(500):
        sample = task.draw(stream("addition", length, i), Difficulty(length))
        assert re.fullmatch(rf"print\([1-9]\d{{{length - 1}}}\+[1-9]\d{{{length - 1}}}\)", sample.input)


def test_memorization_uses_every_digit_everywhere() -> None:
    seen = [set[str]() for _ in range(5)]
    for i in range(500):
        sample = make_task("memorization", {}).draw(stream("digits", i), Difficulty(5))
        assert len(sample.input) == 5
        for place, digit in zip(seen, sample.input, strict=True):
            place.add(digit)
    assert all(place == set("0123456789") for place in seen)


@given(digits=st.text("0123456789", min_size=1, max_size=200), invert=st.booleans(), double=st.booleans())
def test_modifications_never_change_the_target(digits: str, invert: bool, double: bool) -> None:
    task = MemorizationTask(invert=invert, double=double)
    assert task.solve(task.render(Sample(digits, digits)).input) == digits


def test_the_papers_modifications() -> None:
    modified = {
        (i, d): MemorizationTask(invert=i, double=d).render(Sample("123456789", "123456789")).input
        for i, d in product([False, True], repeat=2)
    }
    assert modified == {
        (False, False): "123456789",
        (True, False): "987654321",
        (False, True): "123456789;123456789",
        (True, True): "987654321;987654321",
    }


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, "12a"),
        ({}, ""),
        ({}, "1;1"),
        ({"double": True}, "12"),
        ({"double": True}, "12;13"),
        ({}, "1" * 201),
        ({}, "٣"),
    ],
)
def test_memorization_refuses_other_inputs(options: dict[str, Any], text: str) -> None:
    with pytest.raises(ExeclabError):
        make_task("memorization", options).solve(text)


def test_unknown_names_list_the_known_ones() -> None:
    with pytest.raises(ExeclabError, match="choose program, addition, memorization"):
        make_task("multiplication", {})
    with pytest.raises(ExeclabError, match="no option 'invert'; its options are dialect, layout"):
        make_task("program", {"invert": True})
    with pytest.raises(ExeclabError, match="no option 'layout'; its options are unequal"):
        make_task("addition", {"layout": "line"})
    with pytest.raises(ExeclabError, match="choose released, appendix"):
        make_task("program", {"dialect": "lua"})
    with pytest.raises(ExeclabError, match="choose line, indented"):
        make_task("program", {"layout": "circle"})


def test_a_subset_of_the_operations() -> None:
    task = make_task("program", {"operations": "conditional,loop"})
    drawn = {name for i in range(200) for name in task.draw(stream("subset", i), Difficulty(3, 3)).operations}
    assert drawn == {"conditional", "loop"}
    assert task.variant == "released conditional,loop"
    with pytest.raises(ExeclabError, match="no operation of the dialect released 'sorting'; choose addition, mult"):
        make_task("program", {"operations": "sorting"})


def test_outputs_modulo_a_power_of_ten() -> None:
    task, plain = make_task("program", {"modulus": 3}), make_task("program", {})
    for i in range(200):
        sample, whole = (each.draw(stream("modulus", i), Difficulty(3, 3)) for each in (task, plain))
        assert sample.input == whole.input
        assert (
            sample.target == task.solve(sample.input) == task.target_of(whole.target) == str(int(whole.target) % 1000)
        )
    assert task.variant == "released modulo 3"
    assert plain.variant == "released"
