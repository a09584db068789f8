"""One run over two processes: real ones, started by torchrun."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from execlab.curriculum import make_strategy
from execlab.data.batches import Lesson, StreamFeed, pack
from execlab.errors import ExeclabError
from execlab.models import MODELS, model_class
from execlab.tasks import Difficulty, Sample
from execlab.tasks.addition import AdditionTask
from execlab.training import checkpoints, loop, parallel
from execlab.training.config import make_config
from execlab.training.metrics import read_metrics
from execlab.training.parallel import Ranks

TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "execlab"]
FEEDS = {
    "aligned": ("--feed", "aligned", "--batch", "7"),
    "stream": ("--feed", "stream", "--window", "20", "--batch", "7", "--optimizer", "sgd", "--learning-rate", "0.5"),
}


def train(*words: str, ranks: int = 2) -> subprocess.Popen[str]:
    start = TORCHRUN if ranks == 2 else [sys.executable, "-m", "execlab"]
    return subprocess.Popen(
        [*start, "train", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ}
    )


def finish(process: subprocess.Popen[str]) -> str:
    said = process.communicate()[0]
    assert process.returncode == 0, said
    return said


def losses(folder: Path) -> list[float]:
    return [line.loss for line in read_metrics(folder)]


# Products in bfloat16 are rounded: what is summed in another order then differs sooner.
@pytest.mark.parametrize(
    ("feed", "precision", "near"),
    [
        pytest.param("aligned", "float32", 1e-4, marks=pytest.mark.long),
        ("stream", "float32", 1e-4),
        ("stream", "bfloat16", 1e-2),
    ],
)
def test_two_ranks_do_what_one_process_does_and_resume_exactly(
    feed: str, precision: str, near: float, tmp_path: Path
) -> None:
    common = ("--preset", "smoke", "--steps", "60", "--precision", precision, *FEEDS[feed])
    finish(train(*common, "--out", str(tmp_path / "one"), ranks=1))
    said = finish(train(*common, "--out", str(tmp_path / "two")))
    assert said.count("training is over") == 1
    assert losses(tmp_path / "two") == pytest.approx(losses(tmp_path / "one"), abs=near)

    killed = train(*common, "--out", str(tmp_path / "killed"))
    while killed.poll() is None and not _begun(tmp_path / "killed"):
        time.sleep(0.005)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    subprocess.run(["pkill", "-9", "-f", str(tmp_path / "killed")], check=False)
    finish(train("--resume", str(tmp_path / "killed")))
    assert losses(tmp_path / "killed") == losses(tmp_path / "two")
    one, other = ((tmp_path / name / "model.safetensors").read_bytes() for name in ("killed", "two"))
    assert one == other


def test_two_ranks_do_what_one_process_does_with_every_model(tmp_path: Path) -> None:
    """All models by one pair of processes, because starting one takes seconds."""
    shared: dict[str, Any] = {"batch": 7, "window": 20, "steps": 30, "precision": "float32", "test_count": 8}
    feeds: dict[str, dict[str, Any]] = {"aligned": {}, "stream": {"optimizer": "sgd", "learning_rate": 0.5}}
    configs = {
        f"{model}-{feed}": make_config("smoke", model=model, feed=feed, **changes, **shared)
        for model in MODELS
        for feed, changes in feeds.items()
        if feed == "aligned" or model_class(model).carries_state
    }
    (tmp_path / "configs.json").write_text(json.dumps({name: asdict(config) for name, config in configs.items()}))
    script = str(Path(__file__).parents[1] / "support" / "ranks.py")
    done = subprocess.run([*TORCHRUN[:-2], script, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for name, config in configs.items():
        alone = loop.train(config, tmp_path / f"{name}-alone")
        assert losses(tmp_path / name) == pytest.approx(losses(alone), abs=1e-4), name
        assert losses(tmp_path / f"{name}-again") == losses(tmp_path / name)
        again, whole = ((tmp_path / folder / "model.safetensors").read_bytes() for folder in (f"{name}-again", name))
        assert again == whole, name


def _begun(folder: Path) -> bool:
    found = checkpoints.listed(folder / "checkpoints")
    return bool(found) and int(found[0].name.split("-")[1]) >= 10


def test_shares_are_the_whole() -> None:
    samples = [(Difficulty(1 + i % 2), Sample("1" * (3 + 5 * (i % 3)), "2")) for i in range(7)]
    batch = pack(samples)
    shared = [Ranks(rank, 3).share(batch) for rank in range(3)]
    for t, count in enumerate(batch.batch_sizes):
        assert sum(share.batch_sizes[t] for share in shared if t < len(share.batch_sizes)) == count
    for part in ("ids", "targets", "groups"):
        assert sorted(np.concatenate([getattr(share, part) for share in shared])) == sorted(getattr(batch, part))
    assert all(len(share.ids) == share.batch_sizes.sum() for share in shared)
    assert [Ranks(rank, 3).rows(7) for rank in range(3)] == [3, 2, 2]
    stream = StreamFeed(Lesson(AdditionTask(), make_strategy("mix", Difficulty(2)), "mix"), 4, 10, 5).batch(0)
    for rank in range(2):
        share = Ranks(rank, 2).share(stream)
        assert (share.ids.reshape(10, 2) == stream.ids.reshape(10, 4)[:, rank::2]).all()
        assert (share.targets.reshape(10, 2) == stream.targets.reshape(10, 4)[:, rank::2]).all()


def test_rows_come_back_in_their_order() -> None:
    whole = torch.arange(14.0).view(7, 1, 2)
    assert torch.equal(Ranks(1, 3).mine(whole), whole[[1, 4]])
    assert Ranks().mine(whole) is whole


def test_more_ranks_than_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "9")
    with pytest.raises(ExeclabError, match="8 rows cannot be shared between 9"):
        parallel.join(8)


def test_alone_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    assert parallel.join(1) == Ranks()
    assert json.dumps(Ranks().broadcast(0.5)) == "[0.5]"
