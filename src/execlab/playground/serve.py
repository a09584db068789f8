"""Starts the server and says where it is."""

from __future__ import annotations

import socket
import sys
from typing import TYPE_CHECKING

import torch
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from execlab.errors import ExeclabError
from execlab.playground.limits import LOOPBACK
from execlab.playground.server import create_app

if TYPE_CHECKING:
    import asyncio
    from pathlib import Path

IDLE = 10.0  # seconds without a whole request


class Impatient(H11Protocol):
    """Closes connections on which nothing, or half a request, arrives; uvicorn itself would wait for ever."""

    timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait from the beginning on."""
        super().connection_made(transport)
        self._wait()

    def on_response_complete(self) -> None:
        """And from answer to question."""
        super().on_response_complete()
        self._wait()

    def _wait(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
        self.timer = self.loop.call_later(IDLE, self._late)

    def _late(self) -> None:
        if (self.cycle is None or self.cycle.response_complete) and not self.transport.is_closing():
            self.transport.close()


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
        lifespan="off",
    )
    uvicorn.Server(config).run(sockets=[listening])


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        found = socket.socket(family, socket.SOCK_STREAM)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(address)
        found.listen(128)
        return found
    except (OSError, UnicodeError) as error:  # UnicodeError: no name of a host can be like that
        told = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise ExeclabError(f"cannot listen on {host}, port {port}: {told}") from None
