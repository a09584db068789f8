"""Clients that take and do not give: who reads nothing, who opens too much, who keeps every worker busy."""

from __future__ import annotations

import asyncio
import select
import shutil
import socket
import subprocess
import threading
import time
from typing import TYPE_CHECKING

import httpx
import pytest
from serving import get, serving

from execlab.playground import folders, limits
from execlab.playground.server import create_app

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from serving import Server

    from execlab.playground.schemas import Run

MOST = 20  # connections
STRICT = f"from execlab.playground import serve; serve.STUCK = 1.0; serve.CONNECTIONS = {MOST}"
TIMES = 500
BIG = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
LAST = BIG.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")


@pytest.fixture(scope="module")
def strict() -> Iterator[Server]:
    """A server that loses patience sooner."""
    with serving(first=STRICT, stderr=subprocess.DEVNULL) as strict:
        yield strict


def connect(server: Server, room: int = 4096) -> socket.socket:
    name, _, port = server.host.partition(":")
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
    connection.settimeout(8)
    connection.connect((name, int(port)))
    return connection


def is_reset(connection: socket.socket, wait: float) -> bool:
    """Whether the other side ends a connection from which nothing is read."""
    poll = select.poll()
    poll.register(connection, select.POLLHUP | select.POLLERR)
    return bool(poll.poll(wait * 1000))


def test_who_never_reads_is_dropped(strict: Server) -> None:
    with connect(strict) as deaf, connect(strict, 1 << 16) as slow:
        begin = time.monotonic()
        deaf.sendall(BIG * TIMES)
        slow.sendall(BIG * (TIMES - 1) + LAST)
        size, one = 0, len(get(strict, "/openapi.json").content)
        assert one * TIMES > 8_000_000  # more than the system keeps for a connection
        while part := slow.recv(1 << 16):
            size += len(part)
            if time.monotonic() - begin < 3:  # three times as long as somebody may read nothing
                time.sleep(0.1)
        assert size > one * TIMES
        assert is_reset(deaf, 8)
    assert get(strict, "/api/health").status_code == 200


def test_too_many_connections_are_closed_at_once(strict: Server) -> None:
    several = [connect(strict) for _ in range(2 * MOST)]
    try:
        closed = 0
        for connection in several[MOST:]:
            connection.settimeout(2)
            try:
                closed += connection.recv(1) == b""
            except ConnectionResetError:
                closed += 1
        assert closed == MOST
        several[0].sendall(LAST)
        assert several[0].recv(12) == b"HTTP/1.1 200"  # those that were first are served
    finally:
        for connection in several:
            connection.close()
    time.sleep(0.2)
    assert get(strict, "/api/health").status_code == 200


def test_health_is_answered_while_every_worker_is_busy(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(server.runs / "finished", tmp_path / "one")
    go_on, describe = threading.Event(), folders.describe

    def wait(id: str, folder: Path) -> Run:
        go_on.wait(30)
        return describe(id, folder)

    monkeypatch.setattr(folders, "describe", wait)
    app = create_app(tmp_path)

    async def ask() -> None:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            models = (await client.get("/api/models")).json()
            allowed = limits.AT_ONCE + limits.WAITING
            waiting = [asyncio.create_task(client.get("/api/runs")) for _ in range(allowed)]
            try:
                await asyncio.sleep(0.2)
                assert (await client.get("/api/models")).status_code == 429
                answer = await asyncio.wait_for(client.get("/api/health"), 5)
                assert answer.status_code == 200
                assert answer.json()["models"] == len(models)
                monkeypatch.setattr(limits, "REQUESTS", 0)
                assert (await client.get("/api/alphabet")).status_code == 429
                assert (await client.get("/api/health")).status_code == 200
            finally:
                go_on.set()
            assert {(await one).status_code for one in waiting} == {200}

    asyncio.run(ask())


def test_the_count_of_models_follows(server: Server, tmp_path: Path) -> None:
    app = create_app(tmp_path)

    async def ask() -> None:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            before = (await client.get("/api/health")).json()["models"]
            shutil.copytree(server.runs / "finished", tmp_path / "one")
            for _ in range(100):
                await asyncio.sleep(0.1)
                if (await client.get("/api/health")).json()["models"] == before + 1:
                    return
            pytest.fail("the new model is not counted")

    asyncio.run(ask())
