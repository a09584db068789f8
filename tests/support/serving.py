"""What the tests of the playground know about its server."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path


class Server(NamedTuple):
    url: str
    host: str
    runs: Path
    process: subprocess.Popen[str]
