"""Progress of long work, on standard error: a bar on a terminal, a plain line every few seconds elsewhere.

Speed and remaining time come from the last seconds, not from the mean since the start. So they follow a machine that
becomes busy, and a run that reaches longer samples:

>>> clock = iter([0.0, 10.0, 20.0, 30.0]).__next__
>>> rate = Rate(total=400, window=10.0, clock=clock)
>>> for done in (0, 10, 20, 120):
...     rate.update(done)
>>> rate.per_second, rate.seconds_left
(10.0, 28.0)
>>> rate.speed("rows"), rate.remaining()
('10 rows/s', '28 s left')
"""

from __future__ import annotations

import sys
import time
from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.text import Text

SECONDS_BETWEEN_LINES = 5.0
SECONDS_BETWEEN_REDRAWS = 0.2  # on a terminal
WINDOW = 20.0  # seconds over which speed is measured
POINTS = 100  # that a window remembers


class Rate:
    """Speed and remaining time of some work, measured over the last `window` seconds.

    The first update is the starting point: a resumed run need not start at 0.
    """

    def __init__(
        self, total: float | None = None, *, window: float = WINDOW, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.total, self.window, self.clock = total, window, clock
        self.points: deque[tuple[float, float]] = deque()  # (time, done); the first is the start of the window
        self.latest: tuple[float, float] | None = None

    def update(self, done: float) -> None:
        """Note how much is done by now."""
        now = self.clock()
        self.latest = (now, done)
        if not self.points or now - self.points[-1][0] >= self.window / POINTS:
            self.points.append(self.latest)
        while len(self.points) > 1 and self.points[1][0] <= now - self.window:
            self.points.popleft()

    @property
    def per_second(self) -> float:
        """Work per second; 0 while it is unknown."""
        if self.latest is None or self.latest[0] <= self.points[0][0]:
            return 0.0
        (start, before), (now, done) = self.points[0], self.latest
        return (done - before) / (now - start)

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the total is reached; None while that is unknown."""
        if self.total is None or self.latest is None or self.per_second <= 0:
            return None
        return max(self.total - self.latest[1], 0.0) / self.per_second

    def speed(self, unit: str) -> str:
        """The speed as text."""
        return f"{self.per_second:,.0f} {unit}/s"

    def remaining(self) -> str:
        """The remaining time as text; empty while it is unknown."""
        return "" if self.seconds_left is None else f"{duration(self.seconds_left)} left"


def duration(seconds: float) -> str:
    """A time in the unit that a person would use.

    >>> duration(90), duration(600), duration(9000)
    ('90 s', '10 min', '2.5 h')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:,.1f} h"


def silent(_count: int) -> None:
    """Show nothing: the progress of work that nobody watches."""


class Bar:
    """A bar with a line of text at the bottom of a terminal, and messages above it: the same for all long work."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn
        from rich.table import Column

        one_line = Column(no_wrap=True, overflow="ellipsis")
        text = TextColumn("{task.description}", markup=False, table_column=one_line)
        columns = BarColumn(20), TextColumn("{task.percentage:>3.0f} %"), text
        self.console = Console(stderr=True, highlight=False)
        self.display = Progress(*columns, console=self.console, transient=True, auto_refresh=False)
        self.task = self.display.add_task("", total=1.0)
        self.drawn = -SECONDS_BETWEEN_REDRAWS

    def show(self, share: float, text: str) -> None:
        """Show the share that is done, and a text; not more often than an eye can follow."""
        now = time.monotonic()
        if now - self.drawn < SECONDS_BETWEEN_REDRAWS:
            return
        self.drawn = now
        self.display.start()
        self.display.update(self.task, completed=share, description=text, refresh=True)

    def say(self, message: str | Text) -> None:
        """Print a message that stays."""
        self.console.print(message, markup=False, soft_wrap=True)

    def close(self) -> None:
        """Remove the bar; plain messages may follow."""
        self.display.stop()


@contextmanager
def progress(label: str, total: int, unit: str = "rows") -> Iterator[Callable[[int], None]]:
    """Give a function to call with how much was done since its last call."""
    rate, done = Rate(total), 0
    rate.update(0)
    if not sys.stderr.isatty():
        yield _lines(label, rate, unit)
        return
    bar = Bar()

    def draw(count: int) -> None:
        nonlocal done
        done += count
        rate.update(done)
        parts = [f"{label}  {done:,}/{total:,}", rate.speed(unit), rate.remaining()]
        bar.show(done / max(total, 1), "  ".join(filter(None, parts)))

    try:
        yield draw
    finally:
        bar.close()


def _lines(label: str, rate: Rate, unit: str) -> Callable[[int], None]:
    printed, done = time.monotonic(), 0

    def advance(count: int) -> None:
        nonlocal done, printed
        done += count
        rate.update(done)
        now = time.monotonic()
        if now - printed >= SECONDS_BETWEEN_LINES:
            printed = now
            parts = [f"{done:,} of {rate.total:,} {unit}", rate.speed(unit), rate.remaining()]
            print(f"{label}: {', '.join(filter(None, parts))}", file=sys.stderr, flush=True)

    return advance
