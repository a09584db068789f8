"""Every model with every feed and strategy that is allowed: interrupted and resumed, a run ends in the same bits."""

from __future__ import annotations

import json
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from execlab.curriculum import STRATEGIES
from execlab.models import MODELS, model_class
from execlab.training import loop
from execlab.training.config import choices, make_config
from execlab.training.load import load
from execlab.training.view import View

if TYPE_CHECKING:
    from pathlib import Path

LAST = 13  # step before the interruption; the newest checkpoint is that of step 10
SMALL: dict[str, Any] = {"length": 3, "steps": 18, "evaluate_every": 5, "evaluate_count": 4, "test_count": 4}
ALLOWED = [
    (model, feed, strategy)
    for model, feed, strategy in product(MODELS, choices("feed"), STRATEGIES)
    if feed == "aligned" or model_class(model).carries_state
]
LIVELY = {"floor": 0.0, "power": 0.5, "ahead": 0.4}  # so that the state of this strategy shows early
OPTIONS: dict[str, dict[str, Any]] = {"mastering_rate": LIVELY}
# Optimizers take turns: every model meets each of them with each feed.
COMBINATIONS = [(*each, choices("optimizer")[i % len(choices("optimizer"))]) for i, each in enumerate(ALLOWED)]


class Stops(View):
    """Interrupts a run."""

    def advance(self, step: int, characters: int, used: float) -> None:  # noqa: ARG002
        if step == LAST:
            raise KeyboardInterrupt


def metrics(folder: Path) -> list[dict[str, Any]]:
    """All but the seconds."""
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [{key: value for key, value in line.items() if key != "seconds"} for line in lines]


def test_all_pairs_occur() -> None:
    models, feeds, strategies, optimizers = MODELS, choices("feed"), STRATEGIES, choices("optimizer")
    met = {(model, feed, optimizer) for model, feed, _, optimizer in COMBINATIONS}
    assert len(met) == len({(model, feed) for model, feed, _ in ALLOWED}) * len(optimizers)
    assert {(feed, strategy) for _, feed, strategy, _ in COMBINATIONS} == set(product(feeds, strategies))
    assert {(model, strategy) for model, _, strategy, _ in COMBINATIONS} == set(product(models, strategies))


@pytest.mark.parametrize(("model", "feed", "strategy", "optimizer"), COMBINATIONS)
def test_an_interrupted_run_ends_in_the_same_bits(
    model: str, feed: str, strategy: str, optimizer: str, tmp_path: Path
) -> None:
    changes: dict[str, Any] = {
        "feed": feed,
        "window": 20,
        "strategy": strategy,
        "optimizer": optimizer,
        "learning_rate": 0.02,
    }
    config = make_config("smoke", model=model, **changes, **SMALL, **OPTIONS.get(strategy, {}))
    whole, broken = loop.train(config, tmp_path / "whole"), tmp_path / "broken"
    with pytest.raises(KeyboardInterrupt):
        loop.train(config, broken, view=Stops())
    loop.resume(broken)
    assert (broken / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes()
    assert metrics(broken) == metrics(whole)
    assert [line["step"] for line in metrics(whole)] == [5, 10, 15, 18]
    executor = load(whole)
    assert (executor.config.model, executor.config.strategy) == (model, strategy)
    assert executor.predict("print(123+456)").target == "579"
