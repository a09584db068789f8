"""What keeps the server alive whatever arrives: bodies of a size, in a time; so much work at once; known hosts; headers
that let a browser load nothing from elsewhere."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

from anyio import CapacityLimiter, to_thread

from execlab.errors import ExeclabError
from execlab.registry import blame

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    T = TypeVar("T")

MAX_BODY = 16_384  # bytes
BODY_TIME = 10.0  # seconds for a body to arrive
AT_ONCE = 2  # predictions that are computed
WAITING = 14  # and that wait for it; the rest is refused
STREAMS = 32
REQUESTS = 200  # of any kind at once
CONNECTIONS = 512  # that are open; one more is closed at once
ALWAYS = "/api/health"  # is answered whatever else is being done
HEADERS = {
    "content-security-policy": "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; "
    "form-action 'none'; object-src 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
LOOPBACK = {"localhost", "127.0.0.1", "[::1]"}


class TooMuchError(Exception):
    """The server has enough to do."""


class Work:
    """Computing in threads, so that the server goes on answering; no more at once than stated."""

    def __init__(self) -> None:
        self.limiter: CapacityLimiter | None = None  # made inside the event loop
        self.pending = 0
        self.streams = 0

    async def do(self, function: Callable[[], T]) -> T:
        """The function's result, or TooMuchError; what code from outside raises becomes a sentence."""
        if self.pending >= AT_ONCE + WAITING:
            raise TooMuchError
        self.limiter = self.limiter or CapacityLimiter(AT_ONCE)
        self.pending += 1
        try:
            return await to_thread.run_sync(function, limiter=self.limiter)
        except Exception as error:
            if not isinstance(error, ExeclabError) and (blamed := blame(error)) is not None:
                raise blamed from error
            raise
        finally:
            self.pending -= 1


class Guard:
    """Around the application: hosts, bodies, headers."""

    def __init__(self, app: ASGIApp, hosts: set[str] | None) -> None:
        self.app, self.hosts, self.active = app, hosts, 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on what is fine."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [
                    *message["headers"],
                    *((name.encode(), value.encode()) for name, value in HEADERS.items()),
                ]
            await send(message)

        headers = dict(scope["headers"])
        host = headers.get(b"host", b"").decode("latin-1").rsplit(":", 1)[0] or "localhost"
        if self.hosts is not None and host.lower() not in self.hosts:
            # A page of another name that resolves to this machine must not read from it.
            await refuse(send_with_headers, 400, "this server does not answer to that host name")
            return
        try:
            body = await _body(headers, receive)
        except asyncio.TimeoutError:
            await refuse(send_with_headers, 408, f"the body did not arrive within {BODY_TIME:.0f} seconds")
            return
        if body is None:
            await refuse(send_with_headers, 413, f"the body is too large; at most {MAX_BODY:,} bytes are read")
            return
        if self.active >= REQUESTS and scope["path"] != ALWAYS:
            await refuse(send_with_headers, 429, "the server has enough to do; try again in a moment")
            return
        given = False

        async def receive_body() -> Message:
            nonlocal given
            if given:
                return await receive()
            given = True
            return {"type": "http.request", "body": body, "more_body": False}

        self.active += 1
        try:
            await self.app(scope, receive_body, send_with_headers)
        finally:
            self.active -= 1


async def _body(headers: dict[bytes, bytes], receive: Receive) -> bytes | None:
    """The whole body; None if it is too large."""
    stated = headers.get(b"content-length", b"0")
    if not stated.isdigit() or int(stated[:20]) > MAX_BODY:
        return None
    parts, size = [], 0
    if not int(stated) and b"transfer-encoding" not in headers:
        return b""

    async def collect() -> bool:
        nonlocal size
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return True  # gone
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > MAX_BODY:
                return False
            if not message.get("more_body"):
                return True

    whole = await asyncio.wait_for(collect(), BODY_TIME)
    return b"".join(parts) if whole else None


async def refuse(send: Send, status: int, sentence: str) -> None:
    """An answer without the application."""
    body = json.dumps({"detail": sentence}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
