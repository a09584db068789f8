"""Runs that start with another run's weights."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import torch

from execlab.data.vocabulary import VOCABULARY
from execlab.errors import ExeclabError
from execlab.training import checkpoints, loop
from execlab.training.config import config_from_dict, make_config
from execlab.training.load import load
from execlab.training.transfer import digest_of

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return loop.train(make_config("smoke", steps=20), tmp_path_factory.mktemp("transfer") / "first")


def start_of(folder: Path) -> dict[str, torch.Tensor]:
    """The weights at step 0: the run is stopped right there."""
    path = next((folder / "checkpoints").glob("step-000000000-*"))
    tensors, _ = checkpoints.from_bytes(path.read_bytes())
    return {name.removeprefix("model."): tensor for name, tensor in tensors.items() if name.startswith("model.")}


def test_a_run_starts_with_the_weights_and_records_them(first: Path, tmp_path: Path) -> None:
    config = make_config("smoke", task="program", length=1, weights=str(first), evaluate_every=1_000, steps=10)
    second = loop.train(config, tmp_path / "second")
    weights = load(first).reader.model.state_dict()
    for name, tensor in start_of(second).items():
        assert torch.equal(tensor, weights[name]), name
    stored = json.loads((second / "config.json").read_text())["config"]
    assert stored["weights"] == f"{first}@{digest_of(weights)}"
    assert json.loads((second / "report.json").read_text())["config"]["weights"] == stored["weights"]
    again = loop.train(config_from_dict(stored), tmp_path / "again")
    assert (again / "model.safetensors").read_bytes() == (second / "model.safetensors").read_bytes()


def test_new_characters_start_fresh_and_known_ones_keep_their_rows(first: Path, tmp_path: Path) -> None:
    config = make_config("smoke", task="program", dialect="everyday", length=1, weights=str(first), steps=1, seed=5)
    second = loop.train(config, tmp_path / "second")
    start, weights = start_of(second), load(first).reader.model.state_dict()
    fresh = loop.train(
        make_config("smoke", task="program", dialect="everyday", length=1, steps=1, seed=5), tmp_path / "f"
    )
    known = len(VOCABULARY)
    for name in ("embedding", "output", "output_bias"):
        assert torch.equal(start[name][:known], weights[name])
        assert torch.equal(start[name][known:], start_of(fresh)[name][known:])
    assert torch.equal(start["weight_hh.0"], weights["weight_hh.0"])


def test_weights_that_do_not_fit(first: Path, tmp_path: Path) -> None:
    with pytest.raises(ExeclabError, match=r"does not fit this run: embedding is \[41, 8\], and must be \[41, 16\]"):
        loop.train(make_config("smoke", weights=str(first), embedding=16), tmp_path / "a")
    with pytest.raises(ExeclabError, match="is a model lstm, and this run is to train a gru"):
        loop.train(make_config("smoke", weights=str(first), model="gru"), tmp_path / "b")
    with pytest.raises(ExeclabError, match="there is no run or model at"):
        loop.train(make_config("smoke", weights=str(tmp_path / "nowhere")), tmp_path / "c")
    with pytest.raises(ExeclabError, match="holds other weights than those that this Config started with"):
        loop.train(make_config("smoke", weights=f"{first}@{'0' * 16}"), tmp_path / "d")
    assert not list(tmp_path.iterdir())


def test_the_flag(first: Path, tmp_path: Path) -> None:
    def train(*more: str) -> subprocess.CompletedProcess[str]:
        words = ["--preset", "smoke", "--steps", "4", "--from", str(first), "--out", str(tmp_path / "run"), *more]
        return subprocess.run([sys.executable, "-m", "execlab", "train", *words], capture_output=True, text=True)

    wrong = train("--cells", "32")
    assert wrong.returncode == 2
    assert "does not fit this run" in wrong.stderr
    assert train().returncode == 0
    assert load(tmp_path / "run").config.weights
