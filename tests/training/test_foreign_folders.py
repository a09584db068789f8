"""Folders that are not ours, or that somebody else prepared: nothing in them is lost, nothing outside is touched."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING

import pytest

from execlab.errors import ExeclabError
from execlab.training import checkpoints, weights
from execlab.training.config import make_config
from execlab.training.load import load
from execlab.training.loop import resume, train
from execlab.training.metrics import read_metrics
from execlab.training.view import View

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Listener(View):
    def __init__(self) -> None:
        self.sentences: list[str] = []

    def say(self, sentence: str) -> None:
        self.sentences.append(sentence)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train(make_config("smoke", steps=40), tmp_path_factory.mktemp("runs") / "run")


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    """A copy that can be resumed: its last checkpoint is of step 30."""
    copied = tmp_path / "run"
    shutil.copytree(finished, copied)
    for path in (copied / "report.json", checkpoints.listed(copied / "checkpoints")[0]):
        path.unlink()
    return copied


def contents(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()}


FOREIGN = {
    ".notes.partial": "mine",
    ".owner": "me",
    "checkpoints/.model.partial": "mine",
    "checkpoints/step.bin": "mine",
    "thesis.txt": "mine",
}


@pytest.mark.parametrize("config", [None, '{"architectures": ["GPT2LMHeadModel"]}', "[]", "not JSON"])
@pytest.mark.parametrize("force", [False, True])
def test_a_folder_that_is_not_a_run_stays_as_it_is(tmp_path: Path, config: str | None, force: bool) -> None:
    files = {**FOREIGN, "model.safetensors": "theirs", **({"config.json": config} if config else {})}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    before = contents(tmp_path)
    with pytest.raises(ExeclabError, match="holds no run of this execlab"):
        train(make_config("smoke"), tmp_path, force=force)
    with pytest.raises(ExeclabError):
        resume(tmp_path)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("name", [".notes.partial", ".owner"])
def test_a_single_hidden_file_is_not_ours(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine")
    with pytest.raises(ExeclabError, match="is not empty"):
        train(make_config("smoke"), tmp_path)
    assert contents(tmp_path) == {name: "mine"}


def test_only_our_half_written_files_are_removed(run: Path) -> None:
    ours = (
        ".config.json.0123abcd.partial",
        "checkpoints/.step-000000030-0123456789abcdef.safetensors.89abcdef.partial",
    )
    theirs = (".thesis.txt.partial", ".thesis.0123abcd.partial", "checkpoints/.backup.partial")
    for name in (*ours, *theirs):
        (run / name).write_text("half")
    resume(run)
    assert not any((run / name).exists() for name in ours)
    assert all((run / name).exists() for name in theirs)


@pytest.mark.parametrize(
    "name", ["checkpoints", "metrics.jsonl", ".lock", ".owner", "model.safetensors", "report.json"]
)
def test_links_in_a_run_are_not_written_through(run: Path, tmp_path: Path, name: str) -> None:
    outside = tmp_path / "outside"
    if name == "checkpoints":
        (run / name).rename(outside)
    else:
        outside.write_text("theirs")
        (run / name).unlink(missing_ok=True)
    (run / name).symlink_to(outside)
    listing = sorted(path.name for path in outside.iterdir()) if outside.is_dir() else None
    try:
        resume(run)
    except ExeclabError as error:
        assert "link" in str(error) or "no usable checkpoint" in str(error)  # noqa: PT017 - it may also go well
    if listing is not None:
        assert sorted(path.name for path in outside.iterdir()) == listing
    else:
        assert outside.read_text() == "theirs"


def test_force_removes_a_link_and_not_what_it_leads_to(run: Path, tmp_path: Path) -> None:
    (run / "checkpoints").rename(tmp_path / "outside")
    (run / "checkpoints").symlink_to(tmp_path / "outside")
    train(make_config("smoke", steps=10), run, force=True)
    assert len(list((tmp_path / "outside").iterdir())) == 1
    assert not (run / "checkpoints").is_symlink()


def test_a_bad_line_in_the_middle_of_the_metrics(run: Path) -> None:
    lines = (run / "metrics.jsonl").read_text().splitlines()
    (run / "metrics.jsonl").write_text("\n".join([lines[0], '{"step": 15, "sam', "[]", *lines[1:]]) + "\n")
    listener = Listener()
    resume(run, view=listener)
    assert [line.step for line in read_metrics(run)] == [10, 20, 30, 40]
    assert any("2 damaged lines" in sentence for sentence in listener.sentences)


def test_a_damaged_checkpoint_does_not_push_out_a_whole_one(finished: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(finished, run)
    (run / "report.json").unlink()
    last, before = checkpoints.listed(run / "checkpoints")
    last.write_bytes(last.read_bytes()[:-1])
    about = json.loads((run / "config.json").read_text())
    about["config"]["steps"] = 10**6
    (run / "config.json").write_text(json.dumps(about))

    class Stops(Listener):
        def advance(self, step: int, characters: int, used: float) -> None:  # noqa: ARG002
            if step == 41:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        resume(run, view=Stops())
    kept = checkpoints.listed(run / "checkpoints")
    assert before in kept
    assert last not in kept
    assert checkpoints.newest(run / "checkpoints").damaged == []


def test_a_checkpoint_that_claims_many_layers_builds_nothing(finished: Path, run: Path, tmp_path: Path) -> None:
    tensors, about = checkpoints.from_bytes((finished / "model.safetensors").read_bytes())
    about["execlab"]["config"]["model_options"]["layers"] = 100_000
    (tmp_path / "model.safetensors").write_bytes(checkpoints.to_bytes(tensors, about))
    with pytest.raises(ExeclabError, match="layers is 100000; it must be from 1 to 100"):
        load(tmp_path / "model.safetensors")
    about = json.loads((run / "config.json").read_text())
    for change, reason in (({"layers": 10**9}, "it must be from 1 to 100"), ({"cells": 60_000}, "do not fit")):
        changed = {
            **about,
            "config": {**about["config"], "model_options": {**about["config"]["model_options"], **change}},
        }
        (run / "config.json").write_text(json.dumps(changed))
        with pytest.raises(ExeclabError, match=reason):
            resume(run)
    with pytest.raises(ExeclabError, match="parameters; at most"):
        weights.make_model(make_config("smoke", cells=60_000))


def test_names_shapes_and_dtypes_are_compared_before_a_model_is_made(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tensors, about = checkpoints.from_bytes((finished / "model.safetensors").read_bytes())
    monkeypatch.setattr(weights, "make_model", lambda *_, **__: pytest.fail("a model was made"))
    for change in (
        {"more": tensors["output"].clone()},
        {"output": tensors["output"][:1]},
        {"output": tensors["output"].double()},
    ):
        (tmp_path / "m.safetensors").write_bytes(checkpoints.to_bytes({**tensors, **change}, about))
        with pytest.raises(ExeclabError, match="do not fit their Config"):
            load(tmp_path / "m.safetensors")


def test_a_pipe_in_place_of_a_file(run: Path) -> None:
    readers: dict[str, Callable[[Path], object]] = {
        "config.json": resume,
        "metrics.jsonl": read_metrics,
        "model.safetensors": load,
    }
    for name, read in readers.items():
        (run / name).unlink()
        os.mkfifo(run / name)
        with pytest.raises(ExeclabError, match="not a regular file"):
            read(run)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"model": "x"}, "there is no model 'x'"),
        ({"length": "4"}, "length is '4'"),
        ({"task": []}, r"task is \[\]"),
        ({"model_options": {"cells": "4"}}, "cells is '4'"),
        ({"model_options": []}, r"model_options is \[\]"),
        ({"model_options": {"warp": 9}}, "no option 'warp'"),
        ({"model": "os:system"}, "is code outside execlab"),
        ({"learning_rate": float("nan")}, "learning_rate is nan"),
        ({"batch": True}, "batch is True"),
        ({"threads": 10**30}, "threads is 1000"),
    ],
)
def test_stored_settings_of_any_kind(run: Path, change: dict[str, object], reason: str) -> None:
    about = json.loads((run / "config.json").read_text())
    about["config"] |= change
    (run / "config.json").write_text(json.dumps(about))
    for ask in (resume, load):
        (run / "model.safetensors").unlink(missing_ok=True)
        with pytest.raises(ExeclabError, match=reason):
            ask(run)


@pytest.mark.parametrize("state", [None, [], {}, {"counters": {"warp": 1}, "curriculum": {}}, {"counters": 3}])
def test_a_checkpoint_with_another_state(run: Path, state: object) -> None:
    import hashlib

    newest = checkpoints.newest(run / "checkpoints")
    data = checkpoints.to_bytes(newest.load().tensors, {"state": state})
    newest.path.unlink()
    digest = hashlib.sha256(data).hexdigest()[:16]
    (run / "checkpoints" / f"step-000000030-{digest}.safetensors").write_bytes(data)
    with pytest.raises(ExeclabError, match=r"holds no state|does not fit its Config"):
        resume(run)


def test_a_wrong_world_size(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for value in ("abc", "", "-1", "0", "²"):
        monkeypatch.setenv("WORLD_SIZE", value)
        with pytest.raises(ExeclabError, match="WORLD_SIZE is"):
            train(make_config("smoke"), tmp_path / "run")
