"""What a model may be besides plain: it trains, resumes to the same bits, is saved and asked like any other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from torch.utils.flop_counter import FlopCounterMode

import execlab
from execlab.training import hardware, loop
from execlab.training.config import make_config
from execlab.training.view import View

pytestmark = pytest.mark.usefixtures("imports")


class Stops(View):
    """Interrupts a run."""

    def advance(self, step: int, characters: int, used: float) -> None:  # noqa: ARG002
        if step == 17:
            raise KeyboardInterrupt


@pytest.mark.parametrize("feed", ["aligned", "stream"])
@pytest.mark.parametrize("optimizer", ["sgd", "adamw", "muon"])
def test_an_odd_model_is_like_any_other(feed: str, optimizer: str, tmp_path: Path) -> None:
    changes: dict[str, Any] = {"feed": feed, "optimizer": optimizer, "window": 20, "steps": 24, "test_count": 4}
    config = make_config("smoke", model="oddlab.models:Odd", **changes)
    whole, broken = loop.train(config, tmp_path / "whole"), tmp_path / "broken"
    with pytest.raises(KeyboardInterrupt):
        loop.train(config, broken, view=Stops())
    loop.resume(broken)
    assert (broken / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes()
    model = execlab.load(whole).reader.model
    assert model.get_parameter("embedding.weight") is model.output.weight  # type: ignore[union-attr]
    assert model.state_dict()["version"].tolist() == [3, 1]
    assert execlab.load(whole).predict("print(12+34)").target == "46"


def test_dropout_depends_on_the_step_alone() -> None:
    config = hardware.resolve(make_config("smoke", model="oddlab.models:Odd", learning_rate=1e-12, batch=64))
    run = loop.new_run(config, Path("run"))
    batch = loop.make_feed(config, run.strategy).batch(0)
    first, again = (loop.step(run, batch)[0] for _ in range(2))
    run.counters.step = 1
    other = loop.step(run, batch)[0]
    assert again == pytest.approx(first, abs=1e-4)
    assert other != pytest.approx(first, abs=1e-1)


def test_a_plain_model_need_not_say_what_it_costs() -> None:
    """By default every matrix is applied once to a character: within a factor of 2."""
    run = loop.new_run(hardware.resolve(make_config("smoke", model="mylab.models:Tiny", optimizer="sgd")), Path("run"))
    batch = loop.make_feed(run.config, run.strategy).batch(0)
    with FlopCounterMode(display=False) as counter:
        loop.step(run, batch)
    assert 0.5 < run.model.flops_per_character() * len(batch.ids) / counter.get_total_flops() < 2
