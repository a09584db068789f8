"""Damaged and hostile input: a clear error or recovery, nothing lost, nothing run."""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import torch

from execlab.data import vocabulary
from execlab.errors import ExeclabError
from execlab.randomness import below, stream
from execlab.training import checkpoints, hardware, weights
from execlab.training.config import make_config
from execlab.training.load import load
from execlab.training.loop import resume, train
from execlab.training.metrics import read_metrics
from execlab.training.view import View

if TYPE_CHECKING:
    from pathlib import Path

    from execlab.curriculum import Tally
    from execlab.data.batches import Batch
    from execlab.tasks import Difficulty
    from execlab.training.state import Run


class Listener(View):
    """Keeps what was said."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, sentence: str) -> None:
        self.said.append(sentence)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train(make_config("smoke"), tmp_path_factory.mktemp("runs") / "run")


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    """A copy to be damaged, as if it had stopped before its report."""
    copied = tmp_path / "run"
    shutil.copytree(finished, copied)
    (copied / "report.json").unlink()
    return copied


def damage(data: bytes, i: int) -> bytes:
    rng = stream("damage", i)
    if i % 3 == 0:
        return data[: below(rng, len(data))]
    place, bit = below(rng, len(data)), below(rng, 8)
    return data[:place] + bytes([data[place] ^ (1 << bit)]) + data[place + 1 :]


def test_200_damaged_checkpoints_are_noticed(run: Path) -> None:
    last = checkpoints.listed(run / "checkpoints")[0]
    whole = last.read_bytes()
    for i in range(200):
        last.write_bytes(damage(whole, i))
        newest = checkpoints.newest(run / "checkpoints")
        assert newest.step == 50
        assert newest.damaged == [last]


def test_a_damaged_newest_checkpoint_is_reported_and_the_one_before_used(run: Path, finished: Path) -> None:
    newest = checkpoints.listed(run / "checkpoints")[0]
    newest.write_bytes(newest.read_bytes()[:-1])
    listener = Listener()
    resume(run, view=listener)
    assert "is damaged" in listener.said[0]
    assert "from step 50" in listener.said[1]
    assert (run / "model.safetensors").read_bytes() == (finished / "model.safetensors").read_bytes()


def test_no_usable_checkpoint(run: Path) -> None:
    for path in checkpoints.listed(run / "checkpoints"):
        path.write_bytes(b"")
    with pytest.raises(ExeclabError, match="no usable checkpoint"):
        resume(run)


def test_200_damaged_models_never_do_more_than_complain(finished: Path, tmp_path: Path) -> None:
    whole = (finished / "model.safetensors").read_bytes()
    refused = 0
    for i in range(200):
        path = tmp_path / "model.safetensors"
        path.write_bytes(damage(whole, i))
        try:
            load(path)
        except ExeclabError:
            refused += 1
    assert refused >= 67  # every cut; a flipped bit among the weights is a valid file


@pytest.mark.parametrize(
    "data", [b"", b"\x80\x04K\x01.", b"{}", b"\xff" * 100, (8).to_bytes(8, "little") + b"[[[[[[[["]
)
def test_no_model_at_all(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(data)
    with pytest.raises(ExeclabError, match="not a safetensors file"):
        load(tmp_path / "model.safetensors")


@pytest.mark.parametrize("change", [{"cells": 65_536}, {"layers": 100}, {"embedding": 65_536}, {"cells": 17}])
def test_a_model_that_claims_to_be_larger_than_it_is(finished: Path, tmp_path: Path, change: dict[str, int]) -> None:
    tensors, about = checkpoints.from_bytes((finished / "model.safetensors").read_bytes())
    about["execlab"]["config"]["model_options"] |= change
    (tmp_path / "model.safetensors").write_bytes(checkpoints.to_bytes(tensors, about))
    with pytest.raises(ExeclabError, match="the weights in"):
        load(tmp_path / "model.safetensors")


def test_another_vocabulary(finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(finished / "model.safetensors", tmp_path / "model.safetensors")
    monkeypatch.setattr(weights, "vocabulary_of", lambda _: vocabulary.VOCABULARY[::-1])
    with pytest.raises(ExeclabError, match="another vocabulary"):
        load(tmp_path / "model.safetensors")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"format": 3}, "newer execlab"),
        ({"format": None}, "newer execlab"),
        ({"data_version": 99}, "data version 99"),
        ({"config": {"warp": 9}}, "no setting 'warp'"),
        ({"config": {"cells": "many"}}, "cells is 'many'"),
        ({"config": {"task": "sorting"}}, "no task 'sorting'"),
        ({"config": []}, "no configuration"),
    ],
)
def test_configs_from_elsewhere(run: Path, change: dict[str, object], reason: str) -> None:
    about = json.loads((run / "config.json").read_text())
    (run / "config.json").write_text(json.dumps({**about, **change}))
    with pytest.raises(ExeclabError, match=reason):
        resume(run)


def test_config_that_is_no_json(run: Path) -> None:
    (run / "config.json").write_text("{")
    with pytest.raises(ExeclabError, match="not JSON"):
        resume(run)
    with pytest.raises(ExeclabError, match=r"no config\.json"):
        resume(run / "checkpoints")


def test_a_cut_metrics_line_is_written_again(run: Path, finished: Path) -> None:
    with (run / "metrics.jsonl").open("a") as file:
        file.write('{"step": 70, "sam')
    resume(run)
    for folder in (run, finished):
        assert len(read_metrics(folder)) == 6
    assert (run / "metrics.jsonl").read_text().count("\n") == 6


def test_a_loss_that_is_no_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from execlab.training import loop

    step = loop.step

    def explode(run: Run, batch: Batch) -> tuple[float, dict[Difficulty, Tally]]:
        loss, tallies = step(run, batch)
        return (float("nan") if run.counters.step == 25 else loss), tallies

    monkeypatch.setattr(loop, "step", explode)
    with pytest.raises(ExeclabError, match=r"the loss became nan at step 25; the last good checkpoint is kept"):
        train(make_config("smoke"), tmp_path / "run")
    monkeypatch.undo()
    assert checkpoints.newest(tmp_path / "run" / "checkpoints").step == 20
    resume(tmp_path / "run")
    assert (tmp_path / "run" / "model.safetensors").exists()


def test_a_full_disk_while_saving_loses_nothing(tmp_path: Path) -> None:
    """Checkpoints grow when the optimizer starts; a limit on file size between the two is a disk that fills up."""
    folder = tmp_path / "run"
    done = subprocess.run(
        [sys.executable, "-m", "execlab", "train", "--preset", "smoke", "--out", str(folder)],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000)),
    )
    assert done.returncode == 2
    assert done.stderr.strip().split("\n")[-1].startswith("execlab: ")
    assert "Traceback" not in done.stderr
    assert not list((folder / "checkpoints").glob(".*"))
    assert checkpoints.newest(folder / "checkpoints").step == 0
    resume(folder)
    assert (folder / "model.safetensors").exists()


def test_unknown_devices() -> None:
    for device in ("tpu", "cuda:99", "abacus"):
        if device.startswith("cuda") and torch.cuda.is_available():
            continue
        with pytest.raises(ExeclabError, match="is not available"):
            hardware.claim(hardware.resolve(make_config("smoke", device=device)))


def test_a_device_that_is_gone_when_resuming(run: Path) -> None:
    if torch.cuda.is_available():
        pytest.skip("this machine has it")
    about = json.loads((run / "config.json").read_text())
    about["config"]["device"] = "cuda"
    (run / "config.json").write_text(json.dumps(about))
    with pytest.raises(ExeclabError, match="'cuda' is not available"):
        resume(run)
