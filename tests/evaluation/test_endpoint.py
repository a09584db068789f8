"""The evaluation of an endpoint: exact and complete through errors, stalls, a dead server and a kill."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from execlab.errors import ExeclabError
from execlab.evaluation.endpoint import Endpoint
from execlab.prompts import truth_of

if TYPE_CHECKING:
    from pathlib import Path

KEY = "sk-of-this-test-0123456789"


class Unreliable(ThreadingHTTPServer):
    """The oracle, right in 3 of 4 programs; fails, stalls and dies as it is told."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int = 0, fails: float = 0.0, stalls: float = 0.0) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.rng, self.fails, self.stalls = random.Random(1), fails, stalls
        self.requests: list[str] = []
        self.keys: set[str] = set()
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def end(self) -> None:
        self.shutdown()
        self.server_close()


def is_right(text: str) -> bool:
    return sum(text.encode()) % 4 != 0


class Handler(BaseHTTPRequestHandler):
    server: Unreliable

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        text = body["messages"][-1]["content"]
        self.server.requests.append(text)
        self.server.keys.add(self.headers.get("authorization", ""))
        fate = self.server.rng.random()
        if fate < self.server.fails:
            self.send_error(random.Random(fate).choice([429, 500, 503]))
            return
        if fate < self.server.fails + self.server.stalls:
            time.sleep(3)  # longer than the client waits
            return
        truth = int(truth_of(text))
        content = f"The answer is {truth + (not is_right(text))}."
        choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 10, "completion_tokens": 5}
        data = json.dumps({"choices": [choice], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        pass


def command(url: str, out: Path, *words: str, count: int) -> list[str]:
    asked = ["--endpoint", url, "--model", "m", "--length", "1..4", "--nesting", "1..5", "--count", str(count)]
    limits = ["--concurrency", "16", "--timeout", "1", "--tries", "40", "--out", str(out), "--json"]
    return [sys.executable, "-m", "execlab", "evaluate", *asked, *limits, *words]


def expected(count: int) -> dict[tuple[int, int], float]:
    """The truth about the server, without the evaluation's code."""
    from execlab.data.sampling import Source
    from execlab.prompts import prompt_for
    from execlab.tasks import Difficulty, make_task

    shares = {}
    for length in range(1, 5):
        for nesting in range(1, 6):
            source = Source(make_task("program", {}), Difficulty(length, nesting), "test", purpose="evaluate")
            asked = [prompt_for(source, row.sample.input).messages[-1]["content"] for row in source.rows(stop=count)]
            shares[length, nesting] = sum(map(is_right, asked)) / count
    return shares


@pytest.mark.parametrize("count", [5, pytest.param(100, marks=pytest.mark.long)])
def test_everything_is_asked_once_through_failures_a_dead_server_and_a_kill(count: int, tmp_path: Path) -> None:
    """With count 100: 2,000 rows at concurrency 16."""
    total, out = 20 * count, tmp_path / "map"
    server = Unreliable(fails=0.05, stalls=0.01)
    environment = {**os.environ, "OPENAI_API_KEY": KEY}
    process = subprocess.Popen(command(server.url, out, count=count), env=environment, stderr=subprocess.DEVNULL)
    while len(answers(out)) < total // 4:
        assert process.poll() is None
        time.sleep(0.02)
    port = server.server_port
    server.end()  # dies once
    time.sleep(0.5)
    server = Unreliable(port, fails=0.05, stalls=0.01)
    while len(answers(out)) < total // 2:
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = answers(out)
    assert total // 2 <= len(kept) < total
    with (out / "answers.jsonl").open("ab") as file:
        file.write(b'{"length": 1, "nes')  # what a kill may leave
    done = subprocess.run(command(server.url, out, count=count), env=environment, capture_output=True, check=True)
    assert {
        (cell["length"], cell["nesting"]): cell["exact_match"]["value"] for cell in json.loads(done.stdout)["map"]
    } == (expected(count))
    times = Counter((row["length"], row["nesting"], row["index"]) for row in answers(out))
    assert len(times) == total
    assert set(times.values()) == {1}
    assert answers(out)[: len(kept)] == kept
    asked_before = len(server.requests)
    subprocess.run(command(server.url, out, count=count), env=environment, capture_output=True, check=True)
    assert len(server.requests) == asked_before  # nothing was left to ask
    assert server.keys == {f"Bearer {KEY}"}
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    server.end()


def answers(folder: Path) -> list[dict[str, Any]]:
    try:
        lines = (folder / "answers.jsonl").read_text().splitlines()
    except FileNotFoundError:
        return []
    rows = []
    for line in lines:
        try:
            rows.append(json.loads(line))
        except ValueError:
            continue
    return rows


def test_interrupted_it_keeps_what_was_answered(tmp_path: Path) -> None:
    server = Unreliable()
    process = subprocess.Popen(command(server.url, tmp_path, count=500), stderr=subprocess.PIPE, text=True)
    while len(answers(tmp_path)) < 20:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    assert process.returncode == 130
    assert "answers are kept; the same command goes on" in errors
    assert "Traceback" not in errors
    server.end()


def test_another_plan_needs_another_folder_and_a_larger_one_does_not(tmp_path: Path) -> None:
    server = Unreliable()
    subprocess.run(command(server.url, tmp_path, count=1), check=True, capture_output=True)
    done = subprocess.run(command(server.url, tmp_path, count=2), check=True, capture_output=True)
    assert json.loads(done.stdout)["answers"] == 40
    words = command(server.url, tmp_path, "--seed", "1", count=1)
    refused = subprocess.run(words, check=False, capture_output=True, text=True)
    assert refused.returncode == 2
    assert "seed differs" in refused.stderr
    assert "<td" in (tmp_path / "report.html").read_text()
    assert (tmp_path / "map.svg").exists()
    server.end()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--endpoint", "http://127.0.0.1:9/v1", "--model", "m", "--tries", "1"], "did not answer in 1 tries"),
        (["--endpoint", "http://127.0.0.1:9/v1"], "needs --model"),
        (["--endpoint", "ftp://x/v1", "--model", "m"], "is not the address"),
        (["--endpoint", "http://user:key@x/v1", "--model", "m"], "keep keys out of the address"),
        (["--endpoint", "http://x/v1", "--model", "m", "--length", "one"], "write a number or a range"),
        (["--endpoint", "http://x/v1", "--model", "m", "--length", "1..99"], "length is 51"),
        (["runs/x", "--length", "1..3"], "ranges are for --endpoint"),
        ([], "name the folder of a run"),
    ],
)
def test_mistakes_are_sentences(words: list[str], sentence: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "execlab", "evaluate", *words],
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == 2
    assert sentence in done.stderr or "there is no run" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_key_is_never_sent_to_where_the_endpoint_redirects() -> None:
    class Redirects(Handler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(302)
            self.send_header("location", "http://127.0.0.1:9/v1")
            self.send_header("content-length", "0")
            self.end_headers()

    from execlab.prompts import make_prompt
    from execlab.tasks import make_task

    server = Unreliable()
    server.RequestHandlerClass = Redirects
    prompt = make_prompt(make_task("addition", {}), "print(1+2)")
    with pytest.raises(ExeclabError, match="refuses: 302"):
        Endpoint(server.url, "m").ask(prompt, 0, threading.Event())
    server.end()
