"""The API: what it says is true."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import httpx
import pytest
import torch
from serving import get, post

import execlab
from execlab.data.batches import encode
from execlab.data.splits import split_of
from execlab.data.vocabulary import VOCABULARY
from execlab.playground.store import SHIPPED
from execlab.tasks import make_task

if TYPE_CHECKING:
    from pathlib import Path

    from serving import Server

SUM = "print(12+34)"


def test_models(server: Server) -> None:
    found = {model["id"]: model for model in get(server, "/api/models").json()}
    shipped = [model for model in found.values() if model["shipped"]]
    assert {model["task"] for model in shipped} == {"addition", "memorization", "program"}
    for model in shipped:
        told = f"{model['task']}-{model['length']}"
        told += f"x{model['nesting']}" if model["task"] == "program" else ""
        assert model["id"].removesuffix(f"-{model['strategy']}") == told
        assert model["accuracies"]["exact_match"]["n"] >= 2000
        assert (SHIPPED / f"{model['id']}.safetensors").stat().st_size <= 1_500_000
    assert {"finished", "deep/scrambled"} <= found.keys()
    assert not {"link", "half", "broken", "damaged"} & found.keys()
    assert get(server, "/api/health").json()["models"] == len(found)


def test_the_shipped_addition_is_right(server: Server) -> None:
    (model,) = [one for one in get(server, "/api/models").json() if one["id"] == "addition-4-combined"]
    right = 0
    for seed in range(100):
        sample = get(server, "/api/sample", task="addition", length=model["length"], seed=seed).json()
        found = post(server, "/api/predict", model=model["id"], input=sample["input"]).json()
        assert found["target"] == sample["target"]
        right += found["correct"]
    assert right >= 90


@pytest.mark.parametrize("task", ["program", "addition", "memorization"])
def test_samples_are_test_samples(server: Server, task: str) -> None:
    found = get(server, "/api/sample", task=task, length=3, nesting=2, seed=5).json()
    assert found == get(server, "/api/sample", task=task, length=3, nesting=2, seed=5).json()
    assert found["target"] == make_task(task, {}).solve(found["input"])
    assert split_of(task, found["input"]) == "test"


def test_execute_traces(server: Server) -> None:
    found = post(server, "/api/execute", input="a=2\nfor x in range(3):a*=a\nprint(a)").json()
    assert found["output"] == "256"
    assert found["trace"][0] == {"line": 1, "variables": {"a": "2"}}
    assert found["trace"][-1]["variables"] == {"a": "256", "x": "2"}
    assert not found["truncated"]
    long = post(server, "/api/execute", input="a=1\nfor x in range(900):a+=x\nprint(a)").json()
    assert long["truncated"]
    assert len(long["trace"]) == 500


def test_errors_say_where(server: Server) -> None:
    for path, more in (("/api/execute", {}), ("/api/predict", {"model": "finished"})):
        found = post(server, path, input="a=3\nprint(a+b)", **more)
        assert found.status_code == 422
        assert found.json() == {
            "detail": "the variable 'b' has no value yet; assign to it first",
            "line": 2,
            "column": 9,
        }


@pytest.mark.parametrize("forced", [True, False])
def test_states_are_those_of_a_forward_pass(server: Server, forced: bool) -> None:
    found = post(server, "/api/predict", model="finished", input=SUM, states=True, teacher_forced=forced).json()
    states = found["states"]
    printed = "".join(one["character"] for one in found["characters"])
    assert states["characters"] == SUM + "." + (found["target"] if forced else printed[:-1])
    model = execlab.load(server.runs / "finished").reader.model
    ids = torch.from_numpy(encode(states["characters"]))
    with torch.no_grad():
        for end in (1, 7, len(ids)):
            _, (h, c) = model(ids[:end], torch.ones(end, dtype=torch.int64), model.start(1))
            for layer in range(2):
                torch.testing.assert_close(
                    torch.tensor(states["activations"]["h"][layer][end - 1]), h[layer, 0], atol=1e-4, rtol=0
                )
                torch.testing.assert_close(
                    torch.tensor(states["activations"]["c"][layer][end - 1]), c[layer, 0], atol=1e-4, rtol=0
                )
    for one in found["characters"]:
        total = one["probability"] + sum(other["probability"] for other in one["alternatives"])
        assert total == pytest.approx(1, abs=1e-4)
        assert len(one["alternatives"]) == len(VOCABULARY) - 1
    said = execlab.load(server.runs / "finished").predict(SUM, teacher_forced=forced)
    assert (found["prediction"], found["correct"]) == (said.prediction, said.correct)


def test_a_scrambled_model_reads_scrambled_and_answers_plain(server: Server) -> None:
    found = post(server, "/api/predict", model="deep/scrambled", input=SUM).json()
    alphabet = get(server, "/api/alphabet", seed=5).json()
    table = str.maketrans(alphabet["vocabulary"], alphabet["scrambled"])
    assert found["read"] == SUM.translate(table) != SUM
    assert found["target"] == "46"
    states = post(server, "/api/predict", model="deep/scrambled", input=SUM, states=True, teacher_forced=True).json()
    assert states["states"]["characters"] == found["read"] + "." + "46".translate(table)


def test_runs_and_grids(server: Server) -> None:
    found = {run["id"]: run for run in get(server, "/api/runs").json()}
    assert found["finished"]["finished"]
    assert found["finished"]["problem"] is None
    assert {name for name, run in found.items() if run["problem"]} == {
        "broken",
        "deep-metrics",
        "deep-config",
        "numbers",
    }
    assert found["broken"]["problem"] == "broken/config.json is damaged: it is not JSON"
    assert not {"link", "half"} & found.keys()
    (grid,) = get(server, "/api/grids").json()
    assert [row["teacher_forced_accuracy"] for row in grid["rows"]] == [0.5, None]
    lines = [json.loads(line) for line in (server.runs / "finished" / "metrics.jsonl").read_text().splitlines()]
    events = get(server, "/api/runs/finished/metrics").text.split("\n\n")
    told = [json.loads(event.split("data: ")[1]) for event in events if event.startswith("event: metrics")]
    assert told == lines
    assert events[-2] == "event: end\ndata: {}"


def test_a_run_is_followed_while_it_is_written(server: Server) -> None:
    words = [sys.executable, "-m", "execlab", "train", "--preset", "smoke", "--steps", "100000", "--out"]
    process = subprocess.Popen([*words, str(server.runs / "live")], stderr=subprocess.DEVNULL)
    try:
        while not any(run["id"] == "live" and run["samples"] for run in get(server, "/api/runs").json()):
            time.sleep(0.1)
        with httpx.stream("GET", server.url + "/api/runs/live/metrics", timeout=60) as stream:
            steps = list[int]()
            for line in stream.iter_lines():
                if line.startswith("data: {") and "step" in line:
                    steps.append(json.loads(line[6:])["step"])
                if len(steps) >= 30:
                    break
        assert steps == sorted(set(steps))
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(server.runs / "live")  # whoever follows it would wait for ever


def test_a_program_with_a_long_loop_body(server: Server) -> None:
    program = "a=1\nfor x in range(3):\n  a+=x\n  a*=2\nprint(a)"
    assert post(server, "/api/execute", input=program).json()["output"] == "16"
    assert post(server, "/api/predict", model="program-2x1", input=program).json()["target"] == "16"


def test_the_page_is_light(server: Server) -> None:
    web = SHIPPED.parent / "web"
    assert sum(path.stat().st_size for path in web.iterdir()) < 300_000
    for path in web.iterdir():
        assert get(server, f"/{path.name}").status_code == 200
        text = path.read_text()
        assert "//" not in text.replace("http://www.w3.org/2000/svg", "").replace("// ", "")  # no other host


def test_who_listens_to_everybody_is_warned() -> None:
    command = [sys.executable, "-m", "execlab", "serve", "--host", "0.0.0.0", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr
    assert process.stderr.readline() == "warning: everybody who can reach 0.0.0.0 can use it; there is no password\n"
    process.terminate()
    process.communicate()


def test_the_command_refuses_what_cannot_be(tmp_path: Path, server: Server) -> None:
    def refused(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "execlab", "serve", *words], capture_output=True, text=True, check=False
        )
        assert done.returncode == 2
        return done.stderr

    assert "is not a folder" in refused("--runs", str(tmp_path / "none"))
    assert "cannot listen on 127.0.0.1" in refused("--port", server.host.partition(":")[2])
    assert "cannot listen on no.such.host.invalid" in refused("--host", "no.such.host.invalid")
