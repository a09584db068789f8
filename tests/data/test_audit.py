"""The audit passes on what execlab draws, and fails on every kind of lie."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest

from execlab.data import audit as audit_module
from execlab.data import sampling
from execlab.data.audit import PASSES, audit
from execlab.data.sampling import Source
from execlab.data.splits import SPLITS
from execlab.errors import ExeclabError
from execlab.randomness import stream
from execlab.tasks import Difficulty, Sample, make_task
from execlab.tasks.addition import AdditionTask
from execlab.tasks.memorization import MemorizationTask

if TYPE_CHECKING:
    from random import Random

    from execlab.data.splits import Split


@pytest.mark.parametrize(
    ("task", "options", "setting"),
    [
        ("program", {"layout": "indented"}, (4, 3)),
        ("program", {"dialect": "appendix"}, (1, 1)),
        ("addition", {}, (1, 1)),
        ("memorization", {"invert": True, "double": True}, (1, 1)),
        ("memorization", {}, (20, 1)),
    ],
)
@pytest.mark.parametrize("scramble", [None, 4])
def test_passes(task: str, options: dict[str, object], setting: tuple[int, int], scramble: int | None) -> None:
    advanced = 0

    def advance(count: int) -> None:
        nonlocal advanced
        advanced += count

    source = Source(make_task(task, options), Difficulty(*setting), seed=2, scramble=scramble)
    found = audit(source, 300, cpython=task != "memorization", advance=advance)
    assert not found.failures
    assert advanced == PASSES * 300
    for row in found.splits.values():
        assert row.drawn == 300 == row.distinct + row.duplicates
    assert found.as_dict()["passed"] is True


@dataclass(frozen=True)
class Wrong(AdditionTask):
    """Forgets the carry into the hundreds now and then."""

    def draw(self, rng: Random, difficulty: Difficulty) -> Sample:
        sample = super().draw(rng, difficulty)
        return replace_target(sample) if sample.target.endswith("7") else sample


def replace_target(sample: Sample) -> Sample:
    return Sample(sample.input, str(int(sample.target) + 100))


def test_finds_wrong_targets() -> None:
    found = audit(Source(Wrong(), Difficulty(3)), 200, cpython=True)
    assert any("task's truth" in failure for failure in found.failures)
    assert any("CPython" in failure for failure in found.failures)
    assert "is labelled" in found.examples[0]
    assert found.as_dict()["passed"] is False


def test_finds_overlapping_and_misplaced_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    def leak(_task: str, canonical: str) -> Split:
        return "train" if canonical < "5" else "test"

    monkeypatch.setattr(audit_module, "split_of_canonical", leak)
    misplaced = audit(Source(MemorizationTask(), Difficulty(3)), 100)
    assert any("belong to another split" in failure for failure in misplaced.failures)

    draw = sampling.draw_sample
    monkeypatch.setattr(
        sampling, "draw_sample", lambda task, rng, difficulty, _split: draw(task, rng, difficulty, None)
    )
    overlapping = audit(Source(MemorizationTask(), Difficulty(1)), 100)
    assert any("stand in both splits of train/validation" in failure for failure in overlapping.failures)
    assert overlapping.overlaps == {f"{a}/{b}": 10 for i, a in enumerate(SPLITS) for b in SPLITS[i + 1 :]}
    assert overlapping.overlaps_up_to_names == overlapping.overlaps


@dataclass(frozen=True)
class ByText(AdditionTask):
    """Decides the split on the text, as data version 1 did."""

    def draw(self, rng: Random, difficulty: Difficulty) -> Sample:
        sample = super().draw(rng, difficulty)
        return sample._replace(canonical=sample.input)


def test_finds_splits_that_share_a_sample_up_to_names() -> None:
    found = audit(Source(ByText(), Difficulty(2)), 2_000)
    assert not any(found.overlaps.values())
    assert all(found.overlaps_up_to_names.values())
    assert any(failure.endswith("train/test up to names") for failure in found.failures)
    assert found.splits["train"].misplaced > 0
    assert found.as_dict()["passed"] is False


def test_finds_seeds_that_share(monkeypatch: pytest.MonkeyPatch) -> None:
    # As if the key were seed + block: what the audit is there to catch.
    monkeypatch.setattr(
        sampling, "stream", lambda seed, split, purpose, block, *rest: stream(seed + block, split, purpose, *rest)
    )
    found = audit(Source(AdditionTask(), Difficulty(6), seed=0), 640)
    assert any("return at the neighbouring seed" in failure for failure in found.failures)


def test_cpython_is_not_for_memorization() -> None:
    with pytest.raises(ExeclabError, match="whose input is Python"):
        audit(Source(MemorizationTask(), Difficulty(3)), 10, cpython=True)
    with pytest.raises(ExeclabError, match="at least 1 sample"):
        audit(Source(MemorizationTask(), Difficulty(3)), 0)


@dataclass(frozen=True)
class Strange(AdditionTask):
    """Writes what the interpreter refuses."""

    def draw(self, rng: Random, difficulty: Difficulty) -> Sample:
        sample = super().draw(rng, difficulty)
        return sample._replace(input=sample.input.replace("+", "//"))


def test_samples_that_cannot_be_solved_are_disagreements() -> None:
    found = audit(Source(Strange(), Difficulty(3)), 20, cpython=True)
    assert found.splits["train"].disagreements == found.splits["train"].cpython_disagreements == 20
    assert "refused: line 1" in found.examples[0]


def test_the_largest_seed() -> None:
    source = Source(AdditionTask(), Difficulty(3))
    assert not audit(replace(source, seed=2**63 - 1), 10).failures
