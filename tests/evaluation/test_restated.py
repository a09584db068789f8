"""Published numbers are by the rules of today's scores, or say that they are not (recipes/restate.py)."""

from __future__ import annotations

import json
import runpy
from math import sqrt
from pathlib import Path
from typing import Any

import pytest

from execlab.evaluation.evaluate import chance
from execlab.evaluation.scores import SCORING, Z, ratio, residuals, wilson
from execlab.randomness import stream
from execlab.tasks import make_task

ROOT = Path(__file__).parents[2]
MODELS = ROOT / "src" / "execlab" / "playground" / "models"
RECIPE = ROOT / "recipes" / "restate.py"


def entries() -> list[tuple[str, str, dict[str, Any]]]:
    """Name, task and scores of everything that is published, reports and rows alike."""
    found = []
    for path in (*ROOT.glob("results/*/*.json"), *MODELS.glob("*.json")):
        data = json.loads(path.read_text())
        if path.parent.name == "mix":
            found.append((str(path), data["task"], data))
        elif "test" in data and "config" in data:
            found.append((str(path), data["config"]["task"], data["test"]))
    for path in ROOT.glob("results/*/results.jsonl"):
        for row in map(json.loads, path.read_text().splitlines()):
            scores = {
                name: {end: row[f"{name}_{end}".removesuffix("_value")] for end in ("value", "low", "high")}
                for name in ("teacher_forced_accuracy", "free_running_accuracy")
            }
            found.append((f"{path} {row['run']}", row["task"], row | scores))
    return found


def test_every_published_entry_says_its_rule_and_has_an_interval() -> None:
    everything = entries()
    assert len(everything) > 500
    for where, task, scores in everything:
        assert scores["scoring"] in (1, SCORING), where
        assert scores["chance"] == chance(make_task(task, {})), where
        for name in ("teacher_forced_accuracy", "free_running_accuracy"):
            score = scores[name]
            assert 0 <= score["low"] <= score["value"] <= score["high"] <= 1, (where, name)
            assert (score["low"] == 0) == (score["value"] == 0), (where, name)
            assert (score["high"] == 1) == (score["value"] == 1), (where, name)
        if "by_position" in scores and scores["teacher_forced_accuracy"]["value"] == 1:
            characters = sum(place["n"] for place in scores["by_position"])
            assert scores["teacher_forced_accuracy"]["low"] == wilson(1.0, characters, 1).low, where


def test_models_that_ship_are_scored_by_the_new_rule() -> None:
    for path in MODELS.glob("*.json"):
        assert json.loads(path.read_text())["test"]["scoring"] == SCORING


def test_a_recorded_interval_gives_the_new_one() -> None:
    """The symmetric interval of earlier versions holds the standard error, so nothing is lost."""
    interval = runpy.run_path(str(RECIPE))["interval"]
    rng = stream("restate")
    for wrong in (0.0, 0.002, 0.05, 0.9, 1.0):
        total = [1 + int(9 * rng.random()) for _ in range(500)]
        right = [0 if rng.random() < wrong else t for t in total]
        characters = sum(total)
        p = sum(right) / characters
        half = Z * sqrt(sum(rest * rest for rest in residuals(right, total)) * 500 / 499) / characters
        old = {"value": p, "low": max(0.0, p - half), "high": min(1.0, p + half), "n": 500}
        new = ratio(right, total)
        assert tuple(interval(old, characters).values()) == pytest.approx(new)


def test_what_is_restated_stays_as_it_is() -> None:
    restate_row = runpy.run_path(str(RECIPE))["restate_row"]
    rows = [json.loads(line) for line in (ROOT / "results/headline/results.jsonl").read_text().splitlines()]
    assert [restate_row(row, {}, None) for row in rows] == rows
