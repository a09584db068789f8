"""Datasets of questions and answers."""

from __future__ import annotations

import pickle

import pytest

import execlab
from execlab.errors import ExeclabError


@pytest.mark.parametrize(
    ("task", "options"),
    [
        ("program", {"nesting": 2}),
        ("program", {"layout": "indented", "dialect": "appendix"}),
        ("addition", {}),
        ("memorization", {"double": True}),
    ],
)
def test_indexable_iterable_deterministic_picklable(task: str, options: dict[str, object]) -> None:
    dataset = execlab.create_dataset(task, length=4, split="test", seed=0, size=150, **options)  # type: ignore[arg-type]
    entries = list(dataset)
    assert len(dataset) == len(entries) == 150
    assert [dataset[i] for i in (149, 0, 64, 63)] == [entries[i] for i in (149, 0, 64, 63)]
    assert dataset[-1] == entries[-1]
    assert dataset[10:13] == entries[10:13]
    assert list(pickle.loads(pickle.dumps(dataset))) == entries
    assert all(dataset.score_answer(entry["answer"], entry) == 1.0 for entry in entries)
    scrambled = execlab.create_dataset(task, length=4, size=100, scramble=1, **options)  # type: ignore[arg-type]
    assert all(scrambled.score_answer(entry["answer"], entry) == 1.0 for entry in scrambled)
    smaller = execlab.create_dataset(task, length=4, split="test", seed=0, size=3, **options)  # type: ignore[arg-type]
    assert list(smaller) == entries[:3]
    for index in (150, -151):
        with pytest.raises(IndexError):
            dataset[index]


def test_an_entry() -> None:
    entry = execlab.create_dataset("program", length=4, nesting=2, split="test", seed=0, size=1000)[999]
    assert set(entry) == {"question", "answer", "metadata"}
    assert execlab.execute(entry["question"]) == int(entry["answer"])
    assert entry["metadata"]["split"] == "test"
    assert entry["metadata"]["index"] == 999
    assert entry["metadata"]["data_version"] >= 1


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("12", 1.0),
        (" 12 ", 1.0),
        ("12.", 1.0),
        ("12 .\n", 1.0),
        ("13", 0.0),
        ("", 0.0),
        (None, 0.0),
        ("1 2", 0.0),
        ("12..", 0.0),
    ],
)
def test_score_answer(answer: str | None, score: float) -> None:
    assert execlab.score_answer(answer, {"answer": "12"}) == score


def test_generate() -> None:
    sample = execlab.generate("program", length=4, nesting=3, seed=1)
    assert sample == execlab.generate("program", length=4, nesting=3, seed=1)
    assert sample != execlab.generate("program", length=4, nesting=3, seed=2)
    assert str(execlab.execute(sample.input)) == sample.target
    assert ";" in execlab.generate("memorization", length=3, double=True).input
    with pytest.raises(ExeclabError, match="length is 0"):
        execlab.generate("addition", length=0)


def test_bad_arguments() -> None:
    with pytest.raises(ExeclabError, match="size is -1"):
        execlab.create_dataset("program", length=4, size=-1)
    with pytest.raises(ExeclabError, match="no split 'dev'"):
        execlab.create_dataset("program", length=4, split="dev")  # type: ignore[arg-type]
    assert list(execlab.create_dataset("program", length=4, size=0)) == []
