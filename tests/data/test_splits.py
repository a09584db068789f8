"""Splits: stable, never empty, never overlapping, the same under every modification."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execlab.data.sampling import Source, draw_sample
from execlab.data.splits import SPLITS, Split, split_of
from execlab.errors import ExeclabError
from execlab.randomness import stream
from execlab.tasks import TASKS, Difficulty, Sample, make_task
from execlab.tasks.memorization import MemorizationTask
from execlab.tasks.program import ProgramTask

SMALL_SPACES = {
    ("memorization", 1): [str(i) for i in range(10)],
    ("memorization", 2): [f"{i:02}" for i in range(100)],
    ("addition", 1): [f"print({a}+{b})" for a, b in product(range(1, 10), repeat=2)],
}


@pytest.mark.parametrize(("task", "length"), SMALL_SPACES)
def test_every_space_below_a_thousand_samples(task: str, length: int) -> None:
    """Enumerated: every split has its share, and sampling reaches every member of every split and nothing else."""
    space = SMALL_SPACES[task, length]
    members: dict[Split, set[str]] = {split: set() for split in SPLITS}
    for text in space:
        members[split_of(task, text)].add(text)
    assert all(len(found) >= 0.3 * len(space) for found in members.values())
    for split in SPLITS:
        source = Source(make_task(task, {}), Difficulty(length), split)
        assert {row.sample.input for row in source.rows(stop=3_000)} == members[split]


def test_these_are_all_the_small_spaces() -> None:
    """Everything else has at least a thousand samples: memorization of 3 digits, addition of 2, and any program."""
    for dialect in ("released", "appendix"):
        task = make_task("program", {"dialect": dialect})
        assert len({task.draw(stream("space", dialect, i), Difficulty(1)).input for i in range(6_000)}) >= 1_000


@pytest.mark.parametrize("task", TASKS)
def test_no_split_is_empty_at_any_difficulty(task: str) -> None:
    made = make_task(task, {})
    for length in range(1, made.hardest.length + 1):
        for nesting in {1, made.hardest.nesting}:
            for split in SPLITS:
                sample = draw_sample(made, stream("fill", length), Difficulty(length, nesting), split)
                assert split_of(task, sample.input) == split


def test_splits_have_a_third_each() -> None:
    counts = Counter(
        split_of("program", ProgramTask().draw(stream("thirds", i), Difficulty(4, 2)).input) for i in range(6_000)
    )
    assert all(count == pytest.approx(2_000, abs=150) for count in counts.values())


@given(digits=st.text("0123456789", min_size=1, max_size=60), invert=st.booleans(), double=st.booleans())
def test_invert_and_double_keep_the_split(digits: str, invert: bool, double: bool) -> None:
    task = MemorizationTask(invert=invert, double=double)
    assert split_of(task.name, task.plain(task.render(Sample(digits, digits)).input)) == split_of(task.name, digits)


@given(st.integers(0, 10_000))
def test_layout_keeps_the_split(i: int) -> None:
    task = ProgramTask(layout="indented")
    sample = task.draw(stream("layout", i), Difficulty(3, 4))
    assert split_of(task.name, task.plain(task.render(sample).input)) == split_of(task.name, sample.input)


def test_modified_streams_hold_the_same_samples() -> None:
    plain = Source(MemorizationTask(), Difficulty(8), "test", seed=3)
    modified = Source(MemorizationTask(invert=True, double=True), Difficulty(8), "test", seed=3, scramble=5)
    for a, b in zip(plain.rows(stop=200), modified.rows(stop=200), strict=True):
        assert a.difficulty == b.difficulty
        assert a.sample.input != b.sample.input
    bare = Source(MemorizationTask(invert=True, double=True), Difficulty(8), "test", seed=3)
    assert [r.sample.target for r in plain.rows(stop=200)] == [r.sample.target for r in bare.rows(stop=200)]


def test_no_overlap_in_300_000_samples() -> None:
    for task, setting in [("program", (4, 2)), ("addition", (4, 1)), ("memorization", (5, 1)), ("program", (1, 1))]:
        count = 25_000
        seen = {
            split: {r.sample.input for r in Source(make_task(task, {}), Difficulty(*setting), split).rows(stop=count)}
            for split in SPLITS
        }
        assert not seen["train"] & seen["validation"]
        assert not seen["train"] & seen["test"]
        assert not seen["validation"] & seen["test"]


def test_an_empty_split_is_an_error_and_not_a_hang() -> None:
    class One(MemorizationTask):
        def draw(self, rng: object, difficulty: Difficulty) -> Sample:  # noqa: ARG002
            return Sample("0", "0")

    empty = next(split for split in SPLITS if split != split_of("memorization", "0"))
    with pytest.raises(ExeclabError, match="seems empty"):
        draw_sample(One(), stream("empty"), Difficulty(1), empty)
