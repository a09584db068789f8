"""Strange files below the folder of runs: pipes that nobody writes to, huge files, odd types. Nobody waits for them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import httpx
import pytest
from serving import serving

from execlab.errors import ExeclabError
from execlab.playground import folders
from execlab.playground.follow import Follower
from execlab.playground.store import WEIGHTS, ModelStore
from execlab.training.runs import LARGEST_CONFIG

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from serving import Server

CHECKPOINT = "checkpoints/step-000000009-0123456789abcdef.safetensors"
NAMES = ("config.json", "metrics.jsonl", "report.json", "results.jsonl", "model.safetensors", CHECKPOINT)
QUESTION = {"model": "", "input": "print(12+34)"}


def with_a_pipe(finished: Path, folder: Path, name: str) -> None:
    """A copy of a finished run in which one file is a pipe."""
    shutil.copytree(finished, folder)
    if name == CHECKPOINT:
        (folder / "model.safetensors").unlink()
        shutil.rmtree(folder / "checkpoints", ignore_errors=True)
        (folder / "checkpoints").mkdir()
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)


@pytest.fixture(scope="module")
def piped(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose runs are a good one and one with a pipe for each name."""
    runs = tmp_path_factory.mktemp("pipes")
    shutil.copytree(server.runs / "finished", runs / "good")
    for i, name in enumerate(NAMES):
        with_a_pipe(server.runs / "finished", runs / f"pipe-{i}", name)
    with serving("--runs", str(runs), runs=runs, stderr=subprocess.DEVNULL) as piped:
        yield piped


def ask(server: Server, path: str) -> httpx.Response:
    return httpx.get(server.url + path, timeout=8)


def test_pipes_hide_nothing_else(piped: Server) -> None:
    runs = {run["id"]: run["problem"] for run in ask(piped, "/api/runs").json()}
    assert runs == {
        "good": None,
        "pipe-1": "pipe-1/metrics.jsonl is not a regular file",
        "pipe-2": None,
        "pipe-3": None,
        "pipe-4": None,
        "pipe-5": None,
    }
    models = [model["id"] for model in ask(piped, "/api/models").json() if not model["shipped"]]
    assert models == ["good", "pipe-1", "pipe-2", "pipe-3"]
    assert ask(piped, "/api/grids").json() == []
    assert ask(piped, "/api/health").json()["models"] > len(models)


@pytest.mark.parametrize("number", range(len(NAMES)), ids=NAMES)
def test_nobody_waits_for_a_pipe(piped: Server, number: int) -> None:
    question = QUESTION | {"model": f"pipe-{number}"}
    answer = httpx.post(piped.url + "/api/predict", json=question, timeout=8)
    assert answer.status_code == {0: 404, 4: 422, 5: 422}.get(number, 200)
    assert str(piped.runs) not in answer.text
    with httpx.stream("GET", f"{piped.url}/api/runs/pipe-{number}/metrics", timeout=8) as stream:
        events = [line for line in stream.iter_lines() if line] if number != 2 else [next(stream.iter_lines())]
    assert events[0] == {0: events[0], 1: "event: end"}.get(number, "event: metrics")
    assert ask(piped, "/api/health").status_code == 200


@pytest.mark.parametrize("name", NAMES)
def test_reading_a_pipe_ends(server: Server, tmp_path: Path, name: str) -> None:
    """Each name alone."""
    with_a_pipe(server.runs / "finished", tmp_path / "run", name)

    def read() -> None:
        for one in folders.runs_below(tmp_path).items():
            folders.describe(*one)
        for one in folders.grids_below(tmp_path).items():
            folders.read_grid(*one)
        store = ModelStore(tmp_path)
        store.listed()
        with suppress(KeyError, ExeclabError):
            store.get("run")

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    thread.join(5)
    assert not thread.is_alive()


HANGING = """
import signal
from execlab.playground import folders
folders.describe = lambda *_: open({pipe!r})
signal.signal(signal.SIGTERM, signal.SIG_IGN)  # as for the first process of a container: it ends only by itself
"""


def test_the_server_ends_within_five_seconds_whatever_a_thread_waits_for(server: Server, tmp_path: Path) -> None:
    """Workers wait in a system call that no careful reader can avoid, as on a network disk that is gone."""
    shutil.copytree(server.runs / "finished", tmp_path / "run")
    os.mkfifo(tmp_path / "pipe")
    first = HANGING.format(pipe=str(tmp_path / "pipe"))
    with serving("--runs", str(tmp_path), first=first, stderr=subprocess.DEVNULL) as hanging:
        for _ in range(3):
            with pytest.raises(httpx.ReadTimeout):
                httpx.get(hanging.url + "/api/runs", timeout=0.3)
        begin = time.monotonic()
        hanging.process.terminate()
        hanging.process.wait(timeout=15)
        assert time.monotonic() - begin < 5


def test_huge_files_are_not_read(server: Server, tmp_path: Path) -> None:
    sizes = {
        "config.json": LARGEST_CONFIG,
        "report.json": folders.RESULTS,
        "metrics.jsonl": 1 << 40,
        "model.safetensors": WEIGHTS,
    }
    for name, size in sizes.items():
        shutil.copytree(server.runs / "finished", tmp_path / name)
        with (tmp_path / name / name).open("r+b") as file:
            file.truncate(size + 1)  # a hole: no disk is needed
    runs = {name: folders.describe(name, folder).problem for name, folder in folders.runs_below(tmp_path).items()}
    assert runs == {
        "config.json": "config.json/config.json is larger than 1,048,576 bytes",
        "metrics.jsonl": "metrics.jsonl/metrics.jsonl is damaged: its end is not JSON",
        "model.safetensors": None,
        "report.json": None,
    }
    own = {model.id: model for model in ModelStore(tmp_path).listed() if not model.shipped}
    assert own.keys() == {"metrics.jsonl", "report.json"}
    assert own["report.json"].accuracies == {}
    with pytest.raises(ValueError, match="larger than"):
        Follower(tmp_path / "metrics.jsonl").look()
    with pytest.raises(ValueError, match=r"cannot be loaded: .* is larger than"):
        ModelStore(tmp_path).get("model.safetensors")


ODD = (
    *(b"[]", b"5", b"null", b"\xff", b"", b"{}", b"[" * 9999),
    *(b'{"test": 5}', b'{"test": []}', b'{"test": {"exact_match": 5}}'),
    *(b'{"test": {"exact_match": {"value": "x"}}}', b'{"test": {"exact_match": {"value": NaN}}}'),
)


def test_an_odd_report_takes_no_model_off_the_list(server: Server, tmp_path: Path) -> None:
    shutil.copytree(server.runs / "finished", tmp_path / "good")
    for i, text in enumerate(ODD):
        shutil.copytree(server.runs / "finished", tmp_path / f"odd-{i}")
        (tmp_path / f"odd-{i}" / "report.json").write_bytes(text)
    own = {model.id: model for model in ModelStore(tmp_path).listed() if not model.shipped}
    assert own.keys() == {"good", *(f"odd-{i}" for i in range(len(ODD)))}
    assert [name for name, model in own.items() if model.accuracies] == ["good"]


def test_the_list_reads_only_the_end_of_long_metrics(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    shutil.copytree(server.runs / "finished", run)
    lines = (run / "metrics.jsonl").read_bytes().splitlines(keepends=True)
    parsed = list[int]()
    loads = json.loads

    def counting(text: str, **how: object) -> object:
        parsed.append(len(text))
        return loads(text, **how)  # type: ignore[arg-type]

    for end in (b"", b'{"samples": 5', b"nonsense\n\n[]\n"):
        (run / "metrics.jsonl").write_bytes(b'{"samples": 1}\n' * 100_000 + lines[-1] + end)
        monkeypatch.setattr(json, "loads", counting)
        described = folders.describe("run", run)
        monkeypatch.undo()
        assert described.samples == loads(lines[-1])["samples"]
        assert described.problem is None
    assert len(parsed) < 20
    (run / "metrics.jsonl").write_bytes(b'{"samples": 5')
    assert folders.describe("run", run).samples == 0
