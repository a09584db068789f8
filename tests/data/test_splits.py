"""Splits: stable, never empty, never overlapping, the same under every modification."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rewriting import rewritten

from execlab.data.sampling import Source, draw_sample
from execlab.data.splits import SPLITS, Split, split_of, split_of_canonical
from execlab.errors import ExeclabError
from execlab.randomness import stream
from execlab.tasks import Difficulty, Sample, make_task
from execlab.tasks.addition import AdditionTask
from execlab.tasks.memorization import MemorizationTask
from execlab.tasks.program import ProgramTask

SMALL_SPACES = {
    ("memorization", 1): [str(i) for i in range(10)],
    ("memorization", 2): [f"{i:02}" for i in range(100)],
    ("addition", 1): [f"print({a}+{b})" for a, b in product(range(1, 10), repeat=2)],
}
OPERATIONS = {
    "released": ["addition", "multiplication", "identity", "assignment", "loop", "conditional"],
    "appendix": ["addition", "subtraction", "multiplication", "conditional", "loop", "assignment"],
}


@pytest.mark.parametrize(("task", "length"), SMALL_SPACES)
def test_every_space_below_a_thousand_samples(task: str, length: int) -> None:
    """Enumerated: every split has its share, and sampling reaches every member of every split and nothing else."""
    space = SMALL_SPACES[task, length]
    members: dict[Split, set[str]] = {split: set() for split in SPLITS}
    for text in space:
        members[split_of(task, text)].add(text)
    assert all(len(found) >= 0.29 * len(space) for found in members.values())  # pairs a+b and b+a go together
    for split in SPLITS:
        source = Source(make_task(task, {}), Difficulty(length), split)
        assert {row.sample.input for row in source.rows(stop=3_000)} == members[split]


@pytest.mark.parametrize(
    ("task", "options"),
    [
        ("addition", {}),
        ("memorization", {}),
        *(("program", {"dialect": dialect}) for dialect in OPERATIONS),
        *(("program", {"dialect": d, "operations": name}) for d, names in OPERATIONS.items() for name in names),
    ],
)
def test_no_split_is_empty_at_any_difficulty(task: str, options: dict[str, object]) -> None:
    made = make_task(task, options)
    every = set(product(range(1, made.hardest.length + 1), (1, made.hardest.nesting)))
    for length, nesting in sorted(every | set(product((1, 2), range(1, made.hardest.nesting + 1)))):
        for split in SPLITS:
            sample = draw_sample(made, stream("fill", length), Difficulty(length, nesting), split)
            assert split_of(made, made.render(sample).input) == split


@pytest.mark.parametrize(
    ("task", "options"),
    [
        ("program", {"dialect": "released"}),
        ("program", {"dialect": "appendix", "layout": "indented"}),
        ("addition", {}),
        ("memorization", {"invert": True, "double": True}),
    ],
)
def test_the_form_that_a_sample_carries_is_that_of_its_text(task: str, options: dict[str, object]) -> None:
    made = make_task(task, options)
    for row in Source(made, made.hardest, None, strategy="mix").rows(stop=300):
        plain = made.plain(row.sample.input)
        assert made.canonical(plain) == (row.sample.canonical or plain)
        assert (
            split_of_canonical(task, made.canonical(plain)) == split_of(made, row.sample.input) == split_of(task, plain)
        )


def test_a_program_keeps_its_split_in_every_dialect_and_however_it_is_typed() -> None:
    released, appendix = (ProgramTask(dialect=dialect) for dialect in ("released", "appendix"))
    for i in range(200):
        rng = stream("typed", i)
        text = released.draw(rng, Difficulty(3, 4)).input
        for other in (rewritten(rng, text), text.replace(";", ""), text.replace("(", "( ")):
            assert split_of(appendix, other) == split_of(released, text) == split_of("program", text)


def test_sums_are_unordered_pairs() -> None:
    assert split_of("addition", "print(12+345)") == split_of("addition", "print( 345 + 12 )")
    forms = {AdditionTask().canonical(f"print({a}+{b})") for a, b in product(range(1, 10), repeat=2)}
    assert len(forms) == 45


def test_a_task_says_what_is_the_same_to_it() -> None:
    class Bag(MemorizationTask):
        def canonical(self, plain: str) -> str:
            return "".join(sorted(plain))

    task = Bag(invert=True)
    assert split_of(task, "321") == split_of(task, "132")
    seen = {
        split: {row.sample.target for row in Source(task, Difficulty(2), split).rows(stop=2_000)} for split in SPLITS
    }
    assert sum(map(len, seen.values())) == 100
    assert all({digits[::-1] for digits in of} == of for of in seen.values())


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


OVERLAPS = [
    *(("program", {"dialect": d}, setting) for d in OPERATIONS for setting in ((1, 1), (1, 2), (2, 1), (4, 2))),
    ("addition", {}, (1, 1)),
    ("addition", {}, (2, 1)),
    ("memorization", {}, (1, 1)),
    ("memorization", {}, (4, 1)),
]


@pytest.mark.parametrize("count", [2_500, pytest.param(100_000, marks=pytest.mark.long)])
@pytest.mark.parametrize(("task", "options", "setting"), OVERLAPS)
def test_no_overlap_up_to_names(task: str, options: dict[str, object], setting: tuple[int, int], count: int) -> None:
    """The forms are derived from the texts, as anybody else could."""
    made = make_task(task, options)
    seen = {
        split: {
            made.canonical(made.plain(row.sample.input))
            for row in Source(made, Difficulty(*setting), split).rows(stop=count)
        }
        for split in SPLITS
    }
    assert all(seen.values())
    assert not any(seen[a] & seen[b] for a, b in combinations(SPLITS, 2))


def test_an_empty_split_is_an_error_and_not_a_hang() -> None:
    class One(MemorizationTask):
        def draw(self, rng: object, difficulty: Difficulty) -> Sample:  # noqa: ARG002
            return Sample("0", "0")

    empty = next(split for split in SPLITS if split != split_of("memorization", "0"))
    with pytest.raises(ExeclabError, match="seems empty"):
        draw_sample(One(), stream("empty"), Difficulty(1), empty)
