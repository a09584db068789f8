"""Every kind of model can be watched: the page draws whatever its activations name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from execlab.models import MODELS
from execlab.playground import schemas
from execlab.playground.server import _predict
from execlab.playground.store import ModelStore
from execlab.training.config import make_config
from execlab.training.loop import train

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("name", MODELS)
def test_what_a_model_lets_see(name: str, tmp_path: Path) -> None:
    config = make_config("smoke", model=name, steps=10, test_count=4)
    train(config, tmp_path / "run")
    store = ModelStore(tmp_path)
    assert "run" in {model.id for model in store.listed()}
    answer = _predict(
        store.get("run"), schemas.Predict(model="run", input="print(12+34)", teacher_forced=False, states=True)
    )
    assert answer.states is not None
    assert answer.states.characters.startswith("print(12+34).")
    for layers in answer.states.activations.values():
        assert 1 <= len(layers) <= config.model_options["layers"]
        for columns in layers:
            assert [len(column) for column in columns] == [config.model_options["cells"]] * len(
                answer.states.characters
            )
