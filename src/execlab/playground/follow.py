"""Following a run while it is trained: each look at metrics.jsonl reads only what is new in it."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
from contextlib import suppress
from typing import IO, TYPE_CHECKING, NamedTuple

from execlab.errors import ExeclabError
from execlab.files import open_regular
from execlab.playground.folders import BROKEN, is_finished
from execlab.playground.schemas import MAX_DIFFICULTIES
from execlab.training.metrics import read_distribution

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from starlette.requests import Request

    from execlab.playground.limits import Work

POLL = 0.5  # seconds between looks at a growing file
LARGEST = 1 << 26  # bytes of a file that is followed
CHUNK = 1 << 20  # bytes that are read at once; a longer line is skipped
MARK = 64  # bytes before the new ones that are compared: was the file written over?
RESET = "event: reset\ndata: {}\n\n"
END = "event: end\ndata: {}\n\n"
HERE = ": still here\n\n"


class News(NamedTuple):
    """What one look at a run gives: events as text, whether there is more to read now, whether the run is finished."""

    events: str
    more: bool
    finished: bool


class Follower:
    """Remembers how far a metrics.jsonl was read."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.path = folder, folder / "metrics.jsonl"
        self.looked: tuple[int, ...] = ()  # the file at the last look: device, inode, size, time
        self._restart()

    def _restart(self) -> None:
        self.offset = 0  # everything before it was passed on
        self.passed = hashlib.blake2b()  # of that
        self.mark = b""  # the end of that
        self.skipping = False  # inside a line that is too long

    def look(self) -> News:
        """Read what is new, at most a chunk of it."""
        finished = is_finished(self.folder)  # before the lines: none is written after the report
        if not self.folder.is_dir():
            raise ExeclabError(f"{self.folder} was removed")
        try:
            with open_regular(self.path) as file:
                return self._read(file, finished)
        except FileNotFoundError:
            gone, self.looked = self.offset > 0, ()
            self._restart()
            return News(RESET if gone else "", more=False, finished=finished)

    def _read(self, file: IO[bytes], finished: bool) -> News:
        now = os.fstat(file.fileno())
        looked = (now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns)
        if looked == self.looked:
            return News("", more=False, finished=finished)
        if now.st_size > LARGEST:
            raise ExeclabError(f"{self.path} is larger than {LARGEST:,} bytes")
        events = ""
        if not self._continues(file, looked):
            events = RESET
            self._restart()
        file.seek(self.offset)
        data = file.read(min(CHUNK, now.st_size - self.offset))
        size = self._whole(data)
        events += "".join(_event(line) for line in self._lines(data[:size]))
        self.passed.update(data[:size])
        self.mark = (self.mark + data[:size])[-MARK:]
        self.offset += size
        more = size > 0 and self.offset < now.st_size
        self.looked = (*looked[:2], -1, -1) if more else looked
        return News(events, more, finished)

    def _continues(self, file: IO[bytes], looked: tuple[int, ...]) -> bool:
        """Whether the file still begins with what was passed on; a resumed run replaces it with another."""
        if looked[2] < self.offset:
            return False
        if looked[:2] == self.looked[:2]:
            file.seek(self.offset - len(self.mark))
            return file.read(len(self.mark)) == self.mark
        digest, left = hashlib.blake2b(), self.offset
        while left and (part := file.read(min(CHUNK, left))):
            digest.update(part)
            left -= len(part)
        return digest.digest() == self.passed.digest()

    def _whole(self, data: bytes) -> int:
        """How many bytes are whole lines, or part of one that is too long; the rest waits until it is whole."""
        if (end := data.rfind(b"\n") + 1) > 0:
            return end
        return len(data) if self.skipping or len(data) >= CHUNK else 0

    def _lines(self, data: bytes) -> list[bytes]:
        if not data:
            return []
        lines = data.split(b"\n")
        skipped, self.skipping = self.skipping, bool(lines[-1])  # without an end it is too long
        return lines[1 if skipped else 0 : -1]


def _event(line: bytes) -> str:
    """A line as an event; empty if the line is not a JSON object."""
    with suppress(*BROKEN):
        values = json.loads(line.decode(errors="replace"))
        if isinstance(values, dict):
            if shares := read_distribution(values.pop("distribution", None)):
                largest = sorted(shares, key=lambda entry: -entry[2])[:MAX_DIFFICULTIES]
                values["distribution"] = sorted(largest)
            return f"event: metrics\ndata: {json.dumps(values, allow_nan=False)}\n\n"
    return ""


async def follow(folder: Path, work: Work, request: Request) -> AsyncIterator[str]:
    """Give the lines of metrics.jsonl as events, old ones first, until the run is finished or the client is gone."""
    work.streams += 1
    follower = Follower(folder)
    try:
        while not await request.is_disconnected():
            news = await asyncio.to_thread(follower.look)
            if news.events:
                yield news.events
            if news.more:
                continue
            if news.finished:
                yield END
                return
            yield HERE
            await asyncio.sleep(POLL)
    except BROKEN:
        yield END  # damaged, or removed
    finally:
        work.streams -= 1
