"""Progress of long work, on standard error: a bar on a terminal, a plain line every few seconds elsewhere."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SECONDS_BETWEEN_LINES = 5.0


def silent(_count: int) -> None:
    """Show nothing: the progress of work that nobody watches."""


@contextmanager
def progress(label: str, total: int, unit: str = "rows") -> Iterator[Callable[[int], None]]:
    """A function to be called with how much has been done since the last call."""
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
        )
        begin = time.monotonic()
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(label, total=total, rate="")
            done = 0

            def draw(count: int) -> None:
                nonlocal done
                done += count
                rate = done / max(time.monotonic() - begin, 1e-9)
                bar.update(task, completed=done, rate=f"{rate:,.0f} {unit}/s")

            yield draw
    else:
        yield _lines(label, total, unit)


def _lines(label: str, total: int, unit: str) -> Callable[[int], None]:
    begin = said = time.monotonic()
    done = 0

    def advance(count: int) -> None:
        nonlocal done, said
        done += count
        now = time.monotonic()
        if now - said >= SECONDS_BETWEEN_LINES:
            said = now
            rate = done / (now - begin)
            left = (total - done) / rate
            line = f"{label}: {done:,} of {total:,} {unit}, {rate:,.0f} {unit}/s, {left:.0f} s left"
            print(line, file=sys.stderr, flush=True)

    return advance
