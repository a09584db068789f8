"""What the tests of the playground know about its server."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import httpx

if TYPE_CHECKING:
    from collections.abc import Iterator


class Server(NamedTuple):
    url: str
    host: str
    runs: Path
    process: subprocess.Popen[str]


@contextmanager
def serving(*words: str, runs: Path = Path(), first: str = "", **how: Any) -> Iterator[Server]:
    """`execlab serve` in a process of its own, on a free port; its first line says where.

    `first` is code that runs before it, to lower a limit.
    """
    start = ["-c", f"{first}\nfrom execlab.cli import main\nmain()"] if first else ["-m", "execlab"]
    command = [sys.executable, *start, "serve", *words, "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **how)
    try:
        assert process.stdout
        said = process.stdout.readline()
        assert "http://localhost:" in said, said
        url = said.split(" at ", 1)[1].split(" ", 1)[0].rstrip("/")
        yield Server(url, url.removeprefix("http://"), runs, process)
    finally:
        process.terminate()
        try:
            process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise


def post(server: Server, path: str, **body: Any) -> httpx.Response:
    return httpx.post(server.url + path, json=body, timeout=60)


def get(server: Server, path: str, **query: Any) -> httpx.Response:
    return httpx.get(server.url + path, params=query, timeout=60)
