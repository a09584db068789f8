"""The paper's statistics of output characters."""

from __future__ import annotations

import pytest

from execlab.data.sampling import Source
from execlab.data.statistics import guess_accuracy, most_frequent, output_statistics
from execlab.tasks import Difficulty, Sample
from execlab.tasks.memorization import MemorizationTask
from execlab.tasks.program import ProgramTask


def test_by_hand() -> None:
    samples = [Sample("", target) for target in ("10", "12", "-2", "1")]
    assert most_frequent(samples) == ["1", "2", "."]
    # "1", "2", "." against "10.", "12.", "-2.", "1.": 2 + 3 + 2 + 1 of 11.
    assert guess_accuracy(most_frequent(samples), samples) == pytest.approx(8 / 11)
    assert guess_accuracy(["1"], [Sample("", "123")]) == 1 / 4


def test_memorization_cannot_be_guessed() -> None:
    found = output_statistics(Source(MemorizationTask(), Difficulty(9)), 3_000)
    assert found.mean_length == found.max_length == 20
    assert found.guess_percent == pytest.approx(100 * (9 * 0.1 + 1) / 10, abs=1)


def test_the_papers_setting() -> None:
    """The two numbers that a port of the released generator reproduces, and the two that it does not."""
    found = output_statistics(Source(ProgramTask(), Difficulty(4, 1)), 10_000)
    assert found.most_common.character == "1"
    assert found.most_common.percent == pytest.approx(12.9, abs=0.5)
    assert found.first.character == "1"
    assert found.first.percent == pytest.approx(20.9, abs=1)
    assert found.second_first is not None
    assert found.second_first.character == "-"
    assert found.second_first.percent == pytest.approx(15.7, abs=1)
    assert found.before_end.character == "0"
    assert found.before_end.percent == pytest.approx(12.4, abs=1)
