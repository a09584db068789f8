"""What the loop learns from, and the paper's claims about it that a test can hold."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
import torch

from execlab.data.sampling import Source
from execlab.data.scramble import permutation
from execlab.data.splits import split_of
from execlab.data.vocabulary import VOCABULARY
from execlab.errors import ExeclabError
from execlab.models.lstm import LSTM
from execlab.tasks import Difficulty
from execlab.training import hardware, loop, state
from execlab.training.config import FIELDS, PARTS, PRESETS, Config, built_in_options, make_config
from execlab.training.metrics import read_metrics
from execlab.training.optimizers import trapezoid

if TYPE_CHECKING:
    from pathlib import Path

SCRAMBLE = 5


def losses(config: Config, model_change: torch.Tensor | None, steps: int) -> list[float]:
    """The losses of the first steps, the model's characters permuted if asked for."""
    run = loop.new_run(hardware.resolve(config), None)  # type: ignore[arg-type]
    if model_change is not None:
        assert isinstance(run.model, LSTM)
        with torch.no_grad():
            for parameter in (run.model.embedding, run.model.output, run.model.output_bias):
                parameter.copy_(parameter[model_change].clone())
    feed = loop.make_feed(config, run.strategy)
    return [loop.step(run, feed.batch(step))[0] for step in range(steps)]


@pytest.mark.parametrize("feed", ["aligned", "stream"])
def test_scrambled_characters_change_nothing(feed: str) -> None:
    """Section 3: the characters are meaningless to the model; with weights permuted alike, the losses are the same."""
    table = permutation(SCRAMBLE)
    back = {there: here for here, there in table.items()}
    # Row j of the scrambled model is the row of the plain model for the character that j stands for.
    change = torch.tensor([VOCABULARY.index(chr(back.get(ord(c), ord(c)))) for c in VOCABULARY])
    plain = make_config("smoke", task="program", length=2, feed=feed, window=20)
    scrambled = losses(replace(plain, scramble=SCRAMBLE), change, 20)
    assert scrambled == pytest.approx(losses(plain, None, 20), rel=1e-4)
    assert losses(replace(plain, scramble=SCRAMBLE), None, 20) != pytest.approx(scrambled, rel=1e-4)


def test_validation_is_at_the_current_difficulty_and_test_at_the_goal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, Difficulty]] = []
    original = Source.rows

    def spy(self: Source, start: int = 0, stop: int | None = None) -> object:
        asked.append((str(self.split), self.goal))
        return original(self, start, stop)

    monkeypatch.setattr(Source, "rows", spy)
    config = make_config("smoke", strategy="naive", length=3, steps=40)
    folder = loop.train(config, tmp_path / "run")
    lines = read_metrics(folder)
    climbed = [Difficulty(line.length, line.nesting) for line in lines]
    assert climbed[0] == (1, 1)
    for_validation = [difficulty for split, difficulty in asked if split == "validation"]
    assert set(climbed) | {config.goal} == set(for_validation)
    for_test = [difficulty for split, difficulty in asked if split == "test"]
    assert for_test == [config.goal]  # once, at the end
    assert asked[-1][0] in ("test", "train")


def test_validation_samples_belong_to_validation() -> None:
    config = make_config("smoke", task="memorization", length=6, invert=True, double=True, scramble=1)
    plain = replace(config, scramble=None)
    for sample in loop.validation_samples(plain, Difficulty(6), 50):
        assert split_of("memorization", sample.target) == "validation"
    scrambled = loop.validation_samples(config, Difficulty(6), 50)
    assert scrambled != loop.validation_samples(plain, Difficulty(6), 50)


def test_metrics_and_config_tell_what_a_run_was(tmp_path: Path) -> None:
    folder = loop.train(make_config("smoke"), tmp_path / "run")
    line = json.loads((folder / "metrics.jsonl").read_text().splitlines()[-1])
    assert line == read_metrics(folder)[-1].to_json()
    assert list(line) == [
        "step",
        "samples",
        "characters",
        "seconds",
        "length",
        "nesting",
        "learning_rate",
        "loss",
        "training_teacher_forced_accuracy",
        "current_teacher_forced_accuracy",
        "goal_teacher_forced_accuracy",
        "goal_exact_match",
    ]
    about = json.loads((folder / "config.json").read_text())
    assert {"format", "config", "data_version", "parameters", "versions", "commit"} == set(about)
    assert about["config"]["device"] in ("cpu", "cuda", "mps")
    assert about["config"]["precision"] in ("float32", "bfloat16")
    assert about["versions"]["torch"]


@pytest.mark.parametrize(
    ("limit", "key"), [({"steps": 25}, "step"), ({"samples": 100}, "samples"), ({"characters": 2_000}, "characters")]
)
def test_limits(limit: dict[str, int], key: str, tmp_path: Path) -> None:
    config = replace(make_config("smoke"), **{"steps": None, **limit})  # type: ignore[arg-type]
    last = read_metrics(loop.train(config, tmp_path / "run"))[-1]
    (value,) = limit.values()
    assert value <= last.numbers()[key] < value * 1.3


def test_epochs_and_minutes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "EPOCH", 50)
    config = replace(make_config("smoke"), steps=None, epochs=3)
    assert read_metrics(loop.train(config, tmp_path / "epochs"))[-1].samples >= 150
    config = replace(make_config("smoke"), steps=None, minutes=0.002)
    assert read_metrics(loop.train(config, tmp_path / "minutes"))[-1].seconds >= 0.1


def test_the_paper_stops_when_the_rate_is_small(tmp_path: Path) -> None:
    """patience 1 and no rise possible: every evaluation after the first decays, 0.5 * 0.8^28 < 0.001."""
    config = make_config(
        "smoke", schedule="paper", optimizer="sgd", learning_rate=0.5, rise=1.0, patience=1, strategy="baseline",
        steps=100_000, evaluate_every=1, evaluate_count=2, test_count=2, checkpoint_every=1000,
    )  # fmt: skip
    folder = loop.train(config, tmp_path / "run")
    report = json.loads((folder / "report.json").read_text())
    assert report["counters"]["finished"] == "the learning rate fell below 0.001"
    assert report["counters"]["decays"] == 28
    rates = [line.learning_rate for line in read_metrics(folder)]
    assert rates[0] == 0.5
    assert rates[-1] == pytest.approx(0.5 * 0.8**27)


def test_the_trapezoid() -> None:
    config = make_config("laptop", warmup=10, decay=0.5, learning_rate=1.0)
    assert trapezoid(config, 0, 0.0) == pytest.approx(0.1)
    assert trapezoid(config, 9, 0.2) == trapezoid(config, 500, 0.5) == 1.0
    assert trapezoid(config, 500, 0.75) == pytest.approx(0.5)
    assert trapezoid(config, 500, 1.0) == 0.0


def test_presets() -> None:
    paper = PRESETS["paper"]
    model = [paper.model_options[name] for name in ("layers", "cells", "embedding", "init")]
    assert model == [2, 400, 400, 0.08]
    assert (paper.feed, paper.batch, paper.window) == ("stream", 100, 50)
    assert (paper.optimizer, paper.learning_rate, paper.clip) == ("sgd", 0.5, 5.0)
    assert paper.strategy_options["advance_at"] == 0.95
    assert make_config("paper").epochs is None
    assert make_config("paper", task="memorization").epochs == 20
    convergence = make_config("paper", task="memorization", epochs=0)
    assert loop.new_run(hardware.resolve(convergence), None).used() == 0.0  # type: ignore[arg-type]
    laptop = make_config("laptop", task="program", length=2, steps=50)
    assert (laptop.steps, laptop.samples, laptop.model_options["cells"]) == (50, None, 128)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"task": "sorting"}, "no task 'sorting'"),
        ({"strategy": "random"}, "no strategy 'random'; choose baseline, naive, mix, combined"),
        ({"feed": "spoon"}, "no feed 'spoon'"),
        ({"length": 0}, "length is 0"),
        ({"batch": 0}, "batch is 0; it must be from 1 to 1,000,000"),
        ({"mix_share": 1.5}, "from 0 to 1"),
        ({"seed": -1}, "seed is -1; it must be from 0 to"),
        ({"cells": 1.5}, "a whole number"),
        ({"learning_rate": "fast"}, "a number"),
        ({"task": "program", "invert": True}, "no option 'invert'"),
        ({"warp": 9}, "no setting 'warp'"),
        ({"steps": None}, "needs a limit"),
        ({"learning_rate": float("nan")}, "above 0"),
    ],
)
def test_bad_settings(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(ExeclabError, match=reason):
        make_config("smoke", **changes)
    with pytest.raises(ExeclabError, match="no preset 'desktop'"):
        make_config("desktop")


def test_every_field_has_a_kind_and_a_help_text() -> None:
    assert set(FIELDS) | {f"{part}_options" for part in PARTS} == set(Config.__dataclass_fields__)
    options = [each for part in PARTS for each in built_in_options(part).values()]
    for each in (*FIELDS.values(), *options):
        assert each.kind in (int, float, str, bool), each.name
        assert each.help.endswith("."), each.name
        assert each.choices or each.range or each.kind in (str, bool), each.name


def test_the_papers_preset_runs(tmp_path: Path) -> None:
    config = make_config("paper", steps=2, evaluate_count=4, test_count=4)
    last = read_metrics(loop.train(config, tmp_path / "run"))[-1]
    assert last.characters == 2 * 100 * 50
