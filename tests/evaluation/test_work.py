"""Scores of shown work: exact match is of the answer, the work has an accuracy of its own and a first wrong step."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from execlab.data.sampling import Source
from execlab.evaluation.decoding import Answer
from execlab.evaluation.evaluate import evaluate
from execlab.evaluation.mistakes import by_position, first_wrong, work_score
from execlab.evaluation.scorecard import read_scorecard
from execlab.evaluation.scores import score
from execlab.tasks import Difficulty, Sample, make_task
from execlab.training import loop
from execlab.training.config import make_config
from execlab.training.load import load

if TYPE_CHECKING:
    from pathlib import Path

TASK = make_task("program", {"work": "results"})
SAMPLE = Sample("print(((12+9)+300))", "12;123;321")


def answers(*printed: str) -> list[Answer]:
    return [Answer((text + ".").ljust(11, ".")[:11], text, True) for text in printed]


def test_the_answer_counts_for_exact_match() -> None:
    printed = answers("12;123;321", "12;124;321", "21;123;321", "12;123;322", "321")
    samples = [SAMPLE] * len(printed)
    assert score(samples, printed, TASK.answer).exact_match.value == 4 / 5
    work = work_score(TASK, samples, printed)
    assert work is not None
    assert work.accuracy.value == 2 / 5  # the first, and the one that only fails to copy its answer
    assert work.first_wrong_step == {1: 2, 2: 1}


def test_the_first_wrong_step() -> None:
    expected = {"12;123;321": None, "1;123;321": 1, "12;123;3": 3, "12": 2, "12;123": 3, "12;123;321;4": 4}
    assert {text: first_wrong(TASK, SAMPLE.target, text) for text in expected} == expected


def test_positions_are_those_of_the_answer() -> None:
    places = by_position(TASK, [SAMPLE] * 2, answers("12;123;321", "99;999;391"))
    assert [place.value for place in places] == [1.0, 0.5, 1.0, 1.0]


def test_without_work_nothing_is_said_of_it() -> None:
    plain = make_task("program", {})
    assert work_score(plain, [Sample("print(1)", "1")], [Answer("1.", "1", True)]) is None
    assert plain.answer("12;3") == "12;3"


def test_a_run_that_shows_its_work(tmp_path: Path) -> None:
    config = make_config("smoke", task="program", work="columns", nesting=2, test_count=10, strategy="mastery")
    folder = loop.train(config, tmp_path / "run")
    report = json.loads((folder / "report.json").read_text())
    assert read_scorecard(report["test"], "here").work is not None
    executor = load(folder)
    result = evaluate(executor.reader, Source(config.make_task(), Difficulty(2, 2), "test"), 20)
    assert read_scorecard(json.loads(json.dumps(result.scorecard().to_json())), "here") == result.scorecard()
    prediction = executor.predict("print((12+34))")
    assert prediction.target == "+246134;46"
    assert prediction.true_parts == ["+246134", "46"]
    assert prediction.correct == (prediction.parts[-1] == "46")
    assert (prediction.first_wrong is None) == (prediction.prediction == prediction.target)
