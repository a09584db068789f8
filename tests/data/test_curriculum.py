"""A curriculum for other people's training: it climbs by scores, repeats, resumes, and needs no torch."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import execlab
from execlab.curriculum import STRATEGIES
from execlab.data.splits import split_of
from execlab.errors import ExeclabError


def make(strategy: str = "naive", **options: object) -> execlab.Curriculum:
    return execlab.Curriculum("addition", length=4, strategy=strategy, batch=16, every=2, seed=5, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_resumes_to_the_same_batches(strategy: str) -> None:
    """Saved after any number of batches, as JSON."""
    whole, resumed = make(strategy), make(strategy)
    seen = []
    for number in range(6):
        batch = whole.next_batch()
        assert batch == whole.next_batch()
        assert all(split_of("addition", entry["question"]) == "train" for entry in batch)
        if number >= 3:
            assert batch == resumed.next_batch()
        scores = [float(entry["metadata"]["length"] < 3) for entry in batch]
        event = whole.observe(scores)
        if number >= 3:
            assert resumed.observe(scores) == event
        if number == 2:
            resumed.load_state_dict(json.loads(json.dumps(whole.state_dict())))
        seen.append(batch)
    assert len({entry["question"] for batch in seen for entry in batch}) > 30


def test_it_climbs_with_the_scores_and_not_without() -> None:
    for score, reached in ((1.0, 4), (0.0, 1)):
        curriculum = make(advance_at=0.9)
        for _ in range(8):
            curriculum.observe([score] * len(curriculum.next_batch()))
        assert curriculum.current.length == reached


def test_own_validation_scores_count() -> None:
    curriculum = make(advance_at=0.9)
    for _ in range(2):
        event = curriculum.observe([0.0] * len(curriculum.next_batch()), {(1, 1): 1.0})
    assert event == "climb"


def test_mistakes_are_sentences() -> None:
    curriculum = make()
    with pytest.raises(ExeclabError, match="no batch to score"):
        curriculum.observe([])
    curriculum.next_batch()
    with pytest.raises(ExeclabError, match="3 scores for a batch of 16"):
        curriculum.observe([1.0] * 3)
    with pytest.raises(ExeclabError, match="from 0 to 1"):
        curriculum.observe([2.0] * 16)
    with pytest.raises(ExeclabError, match="not the state"):
        curriculum.load_state_dict({})
    with pytest.raises(ExeclabError, match="no option 'advance'"):
        make(advance=1)


def test_it_needs_no_torch() -> None:
    code = (
        "import sys; sys.modules['torch'] = sys.modules['numpy'] = None; import execlab;"
        "c = execlab.Curriculum('program', length=3, nesting=2, batch=4); c.next_batch(); c.observe([1, 0, 1, 0])"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
