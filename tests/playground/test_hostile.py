"""Hostile clients and strange files: a clear answer, nothing given away, and the server lives."""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import httpx
import pytest
from serving import get, post

if TYPE_CHECKING:
    from serving import Server

SUM = "print(12+34)"


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
    wide = "a=9\nfor x in range(12):a*=a\n" + "b=a;" * 100 + "\n" + "for x in range(500):b=1\nprint(b)"
    found = post(server, "/api/execute", input=wide)
    assert len(found.content) < 1_000_000
    assert "digits)" in found.json()["trace"][-1]["variables"]["a"]
    endless = "a=9\nfor x in range(12):a*=a\nprint(a)"  # a short text with a very long output
    for how in ({"states": True}, {"teacher_forced": True}):
        assert post(server, "/api/predict", model="program-2x1", input=endless, **how).status_code == 413
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


def test_headers_and_hosts(server: Server) -> None:
    found = get(server, "/")
    assert found.headers["content-security-policy"].startswith("default-src 'self'")
    assert found.headers["x-content-type-options"] == "nosniff"
    assert "access-control-allow-origin" not in found.headers
    assert "server" not in found.headers
    assert httpx.get(server.url, headers={"host": "evil.example"}).status_code == 400
    assert get(server, "/docs").status_code == 404
    assert "/api/predict" in get(server, "/openapi.json").json()["paths"]
