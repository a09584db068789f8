"""A run that is killed and resumed equals one that never was, bit for bit."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from execlab.errors import ExeclabError
from execlab.randomness import below, stream
from execlab.training import checkpoints
from execlab.training.config import Config, make_config
from execlab.training.locking import locked_run
from execlab.training.loop import resume, train

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

EXECLAB = [sys.executable, "-m", "execlab"]
# Long enough that a kill finds it at work.
LONGER = ("--steps", "240", "--test-count", "20", "--evaluate-count", "8")


def digest(folder: Path) -> str:
    return hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()


def metrics(folder: Path) -> list[dict[str, object]]:
    """All but the seconds."""
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [{key: value for key, value in line.items() if key != "seconds"} for line in lines]


def start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen([*EXECLAB, "train", *arguments], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen[str]) -> str:
    """Wait for a good end; gives what was printed."""
    said = process.communicate()[1]
    assert process.returncode == 0, said
    return said


def steps_done(folder: Path) -> int:
    newest = checkpoints.listed(folder / "checkpoints")
    return int(newest[0].name.split("-")[1]) if newest else -1


def kill_at(process: subprocess.Popen[str], folder: Path, step: int, number: int) -> str:
    """Send the signal once a checkpoint at or after this step is there; gives what was printed."""
    while process.poll() is None and steps_done(folder) < step:
        time.sleep(0.002)
    process.send_signal(number)
    return process.communicate()[1]


SETTINGS: list[tuple[str, ...]] = [
    ("--feed", "aligned", "--strategy", "combined", "--precision", "float32"),
    ("--feed", "stream", "--window", "20", "--strategy", "mix", "--precision", "bfloat16"),
]
# tests/models/test_contract.py resumes every optimizer, model and feed inside a process.
MORE_SETTINGS: list[tuple[str, ...]] = [
    ("--feed", "stream", "--window", "20", "--strategy", "naive", "--optimizer", "sgd", "--kernel", "torch"),
    ("--feed", "aligned", "--task", "program", "--scramble", "3", "--optimizer", "muon", "--precision", "bfloat16"),
]


@pytest.mark.parametrize(
    "settings", [*SETTINGS, *(pytest.param(more, marks=pytest.mark.long) for more in MORE_SETTINGS)]
)
def test_killed_runs_end_in_the_same_bits(settings: Sequence[str], tmp_path: Path) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    common = ("--preset", "smoke", *LONGER, *settings)
    finish(start(*common, "--out", str(whole)))
    rng = stream("kills", *settings)
    killed = start(*common, "--out", str(broken))
    signals = [signal.SIGKILL, signal.SIGINT] if settings[1] == "aligned" else [signal.SIGKILL, signal.SIGKILL]
    for turn, number in enumerate(signals):
        said = kill_at(killed, broken, 10 + 80 * turn + below(rng, 60), number)
        assert killed.returncode != 0
        if number == signal.SIGINT:
            assert f"execlab train --resume {broken}" in said
            assert killed.returncode == 130
        killed = start("--resume", str(broken))
    said = finish(killed)
    resumed_from = int(said.split("from step ")[1].split("\n")[0].replace(",", ""))
    assert resumed_from > 0
    assert digest(broken) == digest(whole)
    assert metrics(broken) == metrics(whole)
    steps = [line["step"] for line in metrics(whole)]
    assert steps == list(range(10, 241, 10))


def test_the_same_config_gives_the_same_bits_and_can_be_replayed(tmp_path: Path) -> None:
    one = train(make_config("smoke"), tmp_path / "one")
    said = json.loads((one / "config.json").read_text())
    two = train(Config(**said["config"]), tmp_path / "two")
    finish(start("--config", str(one / "config.json"), "--out", str(tmp_path / "three")))
    other = train(make_config("smoke", seed=1), tmp_path / "four")
    assert digest(one) == digest(two) == digest(tmp_path / "three") != digest(other)


def test_checkpoints_between_evaluations_change_nothing(tmp_path: Path) -> None:
    often = train(make_config("smoke"), tmp_path / "often")
    seldom = train(make_config("smoke", checkpoint_every=4), tmp_path / "seldom")
    assert metrics(often) == metrics(seldom)


def test_a_finished_run_says_so(tmp_path: Path) -> None:
    train(make_config("smoke"), tmp_path / "run")
    before = {path: path.read_bytes() for path in (tmp_path / "run").iterdir() if path.is_file()}
    done = subprocess.run(
        [*EXECLAB, "train", "--resume", str(tmp_path / "run")], capture_output=True, text=True, check=True
    )
    assert "is finished" in done.stderr
    assert (tmp_path / "run" / "model.safetensors").read_bytes() == before[tmp_path / "run" / "model.safetensors"]


def test_config_and_a_checkpoint_exist_before_the_first_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise RuntimeError("before the first step")

    monkeypatch.setattr("execlab.training.loop.step", stop)
    with pytest.raises(RuntimeError):
        train(make_config("smoke"), tmp_path / "run")
    assert (tmp_path / "run" / "config.json").exists()
    assert steps_done(tmp_path / "run") == 0
    monkeypatch.undo()
    assert resume(tmp_path / "run") == tmp_path / "run"
    assert digest(tmp_path / "run") == digest(train(make_config("smoke"), tmp_path / "other"))


def test_never_overwrites_without_force(tmp_path: Path) -> None:
    train(make_config("smoke"), tmp_path / "run")
    with pytest.raises(ExeclabError, match="--resume"):
        train(make_config("smoke", seed=1), tmp_path / "run")
    before = digest(tmp_path / "run")
    train(make_config("smoke", seed=1), tmp_path / "run", force=True)
    assert digest(tmp_path / "run") != before
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("dear")
    with pytest.raises(ExeclabError, match="is not a run"):
        train(make_config("smoke"), tmp_path / "mine", force=True)
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "dear"


def test_who_was_taken_over_writes_nothing_more(tmp_path: Path) -> None:
    folder, whole = tmp_path / "run", train(make_config("smoke", steps=200), tmp_path / "whole")
    first = start("--preset", "smoke", "--steps", "200", "--out", str(folder))
    while steps_done(folder) < 20:
        time.sleep(0.01)
    os.kill(first.pid, signal.SIGSTOP)  # as if its machine were cut off
    (folder / ".lock").unlink()  # as on a file system whose locks do not reach other machines
    done = subprocess.run([*EXECLAB, "train", "--resume", str(folder)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    before = {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    os.kill(first.pid, signal.SIGCONT)
    assert "another process has taken over" in first.communicate()[1]
    assert first.returncode == 2
    assert {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()} == before
    assert digest(folder) == digest(whole)


def test_a_second_process_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    first = start("--preset", "smoke", "--steps", "100000", "--out", str(folder))
    while steps_done(folder) < 10:
        time.sleep(0.01)
    second = subprocess.run([*EXECLAB, "train", "--resume", str(folder)], capture_output=True, text=True, check=False)
    assert second.returncode == 2
    assert second.stderr == f"execlab: another process is writing to {folder}\n"
    os.kill(first.pid, signal.SIGKILL)
    first.communicate()
    with locked_run(folder):
        pass  # the lock died with its process
