"""The API: what it says is true, and nothing that is sent to it ends it."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import httpx
import pytest
import torch

import execlab
from execlab.data.batches import encode
from execlab.data.splits import split_of
from execlab.data.vocabulary import VOCABULARY
from execlab.playground.shelf import SHIPPED
from execlab.tasks import make_task

if TYPE_CHECKING:
    from pathlib import Path

    from serving import Server

SUM = "print(12+34)"


def post(server: Server, path: str, **body: Any) -> httpx.Response:
    return httpx.post(server.url + path, json=body, timeout=60)


def get(server: Server, path: str, **query: Any) -> httpx.Response:
    return httpx.get(server.url + path, params=query, timeout=60)


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
    ids = torch.from_numpy(encode(states["characters"]))[:, None]
    with torch.no_grad():
        for end in (1, 7, len(ids)):
            h, c = model.read(ids[:end], model.start(1))[1]
            for layer in range(2):
                torch.testing.assert_close(torch.tensor(states["h"][layer][end - 1]), h[layer, 0], atol=1e-4, rtol=0)
                torch.testing.assert_close(torch.tensor(states["c"][layer][end - 1]), c[layer, 0], atol=1e-4, rtol=0)
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


def raw(server: Server, data: bytes, wait: float = 5.0) -> bytes:
    name, _, port = server.host.partition(":")
    with socket.create_connection((name, int(port)), timeout=wait) as connection:
        connection.sendall(data)
        parts = []
        try:
            while part := connection.recv(65536):
                parts.append(part)
        except TimeoutError:
            pass
        return b"".join(parts)


PATHS = (
    "/../secret.txt",
    "/%2e%2e/secret.txt",
    "/..%2fsecret.txt",
    "/....//secret.txt",
    "//etc/passwd",
    "/api/runs/../secret.txt/metrics",
    "/api/runs/%2e%2e%2fsecret.txt/metrics",
    "/api/runs/link/metrics",
    "/api/runs/half/metrics",
    "/api/runs/%2Fetc/metrics",
    "/api/runs/finished%00/metrics",
    "/api/nothing",
    "/nothing",
)


@pytest.mark.parametrize("path", PATHS)
def test_nothing_outside_is_reachable(server: Server, path: str) -> None:
    answer = raw(server, f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
    assert answer.startswith((b"HTTP/1.1 404 ", b"HTTP/1.1 400 ")), answer[:200]
    assert b"the secret" not in answer
    assert b"root:" not in answer


@pytest.mark.parametrize(
    "model", ["../outside/hidden", "/etc/passwd", "link", "half", "broken", "", "x" * 400, "finished\0"]
)
def test_no_model_comes_from_a_path(server: Server, model: str) -> None:
    assert post(server, "/api/predict", model=model, input=SUM).status_code in (404, 422)


def test_a_damaged_model(server: Server) -> None:
    found = post(server, "/api/predict", model="damaged", input=SUM)
    assert found.status_code == 422
    assert found.json()["detail"].startswith("the model damaged cannot be loaded: ")
    assert str(server.runs) not in found.text


def test_too_much_is_refused_with_a_sentence(server: Server) -> None:
    big = httpx.post(server.url + "/api/execute", content=b"x" * 100_000, timeout=60)
    assert (big.status_code, big.json()["detail"]) == (413, "the body is too large; at most 16,384 bytes are read")
    chunked = httpx.post(server.url + "/api/execute", content=(b"x" * 10_000 for _ in range(10)), timeout=60)
    assert chunked.status_code == 413
    long = post(server, "/api/execute", input="1" * 3000)
    assert long.status_code == 413
    assert "2000" in long.json()["detail"]
    heavy = post(server, "/api/execute", input="a=1\nfor x in range(99999):a+=x\nprint(a)")
    assert heavy.status_code == 422
    assert heavy.json()["line"] == 2
    with ThreadPoolExecutor(64) as pool:
        question = {"model": "program-2x1", "input": "print(1)", "states": True}
        codes = [
            found.status_code for found in pool.map(lambda _: post(server, "/api/predict", **question), range(128))
        ]
    assert set(codes) == {200, 429}


WRONG = (
    b"",
    b"\xff\xfe",
    b"{",
    b"[]",
    b"null",
    b'{"input": 5}',
    b'{"input": "\xff"}',
    b'{"input": "print(1)", "x": 1}',
)


@pytest.mark.parametrize("body", WRONG)
def test_bad_bodies(server: Server, body: bytes) -> None:
    found = httpx.post(server.url + "/api/execute", content=body, headers={"content-type": "application/json"})
    assert found.status_code in (400, 422)
    assert found.json()["detail"]


def test_slow_and_broken_clients_hurt_nobody(server: Server) -> None:
    name, _, port = server.host.partition(":")
    head = b"POST /api/execute HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n{"
    slow = [socket.create_connection((name, int(port))) for _ in range(40)]
    for connection in slow:
        connection.sendall(head)
    assert get(server, "/api/health").status_code == 200
    assert b" 408 " in slow[0].makefile("rb").readline()
    for connection in slow:
        connection.close()
    assert b" 400 " in raw(server, b"\x00\x01\x02\r\n\r\n")
    assert get(server, "/api/health").status_code == 200


def test_silent_connections_are_closed(server: Server) -> None:
    name, _, port = server.host.partition(":")
    silent = [socket.create_connection((name, int(port))) for _ in range(250)]
    silent[0].sendall(b"GET / HTTP/1.1\r\nHost: loc")
    assert get(server, "/api/health").status_code == 200
    for connection in (silent[0], silent[-1]):
        connection.settimeout(30)
        assert connection.recv(1) == b""
    for connection in silent:
        connection.close()


def test_a_program_with_a_long_loop_body(server: Server) -> None:
    program = "a=1\nfor x in range(3):\n  a+=x\n  a*=2\nprint(a)"
    assert post(server, "/api/execute", input=program).json()["output"] == "16"
    assert post(server, "/api/predict", model="program-2x1", input=program).json()["target"] == "16"


def test_headers_and_hosts(server: Server) -> None:
    found = get(server, "/")
    assert found.headers["content-security-policy"].startswith("default-src 'self'")
    assert found.headers["x-content-type-options"] == "nosniff"
    assert "access-control-allow-origin" not in found.headers
    assert "server" not in found.headers
    assert httpx.get(server.url, headers={"host": "evil.example"}).status_code == 400
    assert get(server, "/docs").status_code == 404
    assert "/api/predict" in get(server, "/openapi.json").json()["paths"]


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

    assert "is no folder" in refused("--runs", str(tmp_path / "none"))
    assert "cannot listen on 127.0.0.1" in refused("--port", server.host.partition(":")[2])
    assert "cannot listen on no.such.host.invalid" in refused("--host", "no.such.host.invalid")
