"""Starts the server and says where it is."""

from __future__ import annotations

import os
import socket
import struct
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

import torch
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from execlab.errors import ExeclabError
from execlab.playground.limits import CONNECTIONS, LOOPBACK
from execlab.playground.server import create_app

if TYPE_CHECKING:
    import asyncio
    from pathlib import Path
    from types import FrameType

IDLE = 10.0  # seconds without a whole request
STUCK = 10.0  # seconds in which a client reads nothing of an answer
UNREAD = 1 << 16  # bytes of an answer that the system keeps for a client
AT_ONCE = struct.pack("ii", 1, 0)  # linger for no second
GRACE = 3.0  # seconds from a signal to the end, at most


class Impatient(H11Protocol):
    """Closes connections on which nothing, or half a request, arrives, and those whose client does not read.

    uvicorn itself would wait for ever.
    """

    timer: asyncio.TimerHandle | None = None  # for a request
    stuck: asyncio.TimerHandle | None = None  # for a client that reads

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait from the beginning on; with too many connections, not at all."""
        super().connection_made(transport)
        if len(self.connections) > CONNECTIONS:
            transport.abort()
            return
        transport.set_write_buffer_limits(0)  # so that writing is paused whenever something is unsent
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        super().connection_lost(exc)
        for timer in (self.timer, self.stuck):
            if timer is not None:
                timer.cancel()

    def on_response_complete(self) -> None:
        """And from answer to question."""
        super().on_response_complete()
        self._wait()

    def pause_writing(self) -> None:
        """Something could not be sent at once: see to it that it goes on."""
        self.flow.pause_writing()
        self._watch(self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        """All of it was sent."""
        if self.stuck is not None:
            self.stuck.cancel()
        self.flow.resume_writing()

    def _wait(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
        self.timer = self.loop.call_later(IDLE, self._late)

    def _late(self) -> None:
        if (self.cycle is None or self.cycle.response_complete) and not self.transport.is_closing():
            self.transport.close()

    def _watch(self, unsent: int) -> None:
        self.stuck = self.loop.call_later(STUCK, self._check, unsent)

    def _check(self, before: int) -> None:
        unsent = self.transport.get_write_buffer_size()
        if unsent >= before:  # nobody has read a byte
            with suppress(OSError):  # the system, too, shall drop what it keeps, not try for minutes
                self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
            self.transport.abort()
        else:
            self._watch(unsent)


class Ending(uvicorn.Server):
    """Ends when it is asked to, even if a thread waits for the file system: Python would wait for the thread."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End as uvicorn does; should that take too long, without ceremony."""
        super().handle_exit(sig, frame)
        last = threading.Timer(GRACE, _leave, [128 + sig])
        last.daemon = True
        last.start()


def _leave(code: int) -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def serve(root: Path | None, host: str, port: int) -> None:
    """Until Ctrl-C."""
    torch.set_num_threads(1)  # one question at a time is too small for more, and several come at once
    listening = _listen(host, port)
    own = host in LOOPBACK or host == "::1" or host.startswith("127.")
    name = "localhost" if host in LOOPBACK else host
    url = f"http://{f'[{name}]' if ':' in name else name}:{listening.getsockname()[1]}/"
    print(f"The playground is at {url} (Ctrl-C ends it)", flush=True)
    if not own:
        print(f"warning: everybody who can reach {host} can use it; there is no password", file=sys.stderr, flush=True)
    app = create_app(root, LOOPBACK | {host.lower()} if own else None)
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_keep_alive=int(IDLE),
        timeout_graceful_shutdown=1,
        http=Impatient,
        ws="none",  # its connections would not be watched
        lifespan="off",
    )
    Ending(config).run(sockets=[listening])


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Connections take this from here. The system would keep megabytes of an answer: too much for hundreds of them,
        # and a slow reader would seem to read nothing for long.
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, UNREAD)
        listening.bind(address)
        listening.listen(128)
        return listening
    except (OSError, UnicodeError) as error:  # UnicodeError: no name of a host can be like that
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise ExeclabError(f"cannot listen on {host}, port {port}: {reason}") from None
