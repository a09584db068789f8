"""Recorded scores: what was written is read, and anything else is refused in a sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from execlab.errors import ExeclabError
from execlab.evaluation.scorecard import read_evaluated, read_scorecard
from execlab.training.report import read_report

ROOT = Path(__file__).parent.parent.parent
REPORTS = [
    path
    for path in sorted((ROOT / "results").glob("*/*.json"))
    if path.parent.name not in ("mix", "time_to_accuracy") and path.name not in ("grid.json", "examples.json")
]


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_committed_reports_are_read_whole(path: Path) -> None:
    stored = json.loads(path.read_text())
    report = read_report(path)
    assert json.dumps(report.test.to_json()) == json.dumps(stored["test"])  # order too
    assert report.counters.samples == stored["counters"]["samples"]
    assert report.config.task == stored["config"]["task"]


def test_committed_evaluations_are_written_as_they_are() -> None:
    paths = list((ROOT / "results" / "mix").glob("*.json"))
    assert paths
    for path in paths:
        written = read_evaluated(json.loads(path.read_text()), path).to_json()
        assert written.pop("data_version") == 1  # not said by execlab 0.2
        assert json.dumps(written, indent=2) + "\n" == path.read_text()


@pytest.mark.parametrize(
    "change",
    [
        {"chance": None},
        {"chance": True},
        {"scoring": "2"},
        {"exact_match": 5},
        {"exact_match": {"value": 1, "low": 1, "high": 1}},
        {"by_position": {}},
        {"by_position": [5]},
        {"by_carries": [5]},
        {"kinds_of_error": 5},
        {"kinds_of_error": {"sign": "many"}},
    ],
)
def test_another_shape_is_refused(change: dict[str, Any]) -> None:
    score = {"value": 0.5, "low": 0.4, "high": 0.6, "n": 10}
    names = ("teacher_forced_accuracy", "free_running_accuracy", "exact_match")
    values = {**dict.fromkeys(names, score), "chance": 0.1, "most_frequent_character": 0.2}
    assert read_scorecard(values, "it").scoring == 1  # of a version before the mark
    with pytest.raises(ExeclabError, match="it has another shape"):
        read_scorecard(values | change, "it")
