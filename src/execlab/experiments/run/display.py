"""How far a grid is, on standard error: a bar on a terminal, plain lines elsewhere.

The remaining time comes from the last two minutes, not from the mean since the start. A run shows how far it is when it
is evaluated, which may be rare, so the window is longer than elsewhere and ends at the latest evaluation.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from execlab.progress import Bar, Rate
from execlab.training.metrics import read_metrics

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from execlab.experiments import Planned

WINDOW = 120.0  # seconds over which the speed of a grid is measured


@dataclass
class GridProgress:
    """Which runs of a grid are done, running and failed."""

    folder: Path
    grid: Sequence[Planned]
    done: list[str] = field(default_factory=list)
    running: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)  # name: reason
    rate: Rate = field(default_factory=lambda: Rate(total=1.0, window=WINDOW))

    def spent(self) -> float:
        """The share of the grid's work that is done, by characters (or samples) of its runs."""
        spent = whole = 0.0
        for planned in self.grid:
            size = planned.config.characters or 1
            whole += size
            if planned.name in self.done or planned.name in self.failed:
                spent += size
            elif planned.name in self.running:
                spent += size * min(self._share(planned), 1.0)
        return spent / max(whole, 1.0)

    def _share(self, planned: Planned) -> float:
        lines = read_metrics(self.folder / "runs" / planned.name)
        config = planned.config
        if not lines:
            return 0.0
        last = lines[-1]
        spent = ((last.step, config.steps), (last.samples, config.samples), (last.characters, config.characters))
        return max((done / limit for done, limit in spent if limit), default=0.0)

    def best(self) -> str:
        """The best accuracy among the runs so far."""
        lines = {name: read_metrics(self.folder / "runs" / name) for name in (*self.done, *self.running)}
        best = [
            (max(line.goal_teacher_forced_accuracy for line in metrics), name)
            for name, metrics in lines.items()
            if metrics
        ]
        return "best so far {:.1%} ({})".format(*max(best)) if best else ""

    def sentence(self) -> str:
        """Everything in one line."""
        spent = self.spent()
        if self.rate.latest is None or spent > self.rate.latest[1]:  # between evaluations nothing is known
            self.rate.update(spent)
        counts = f"{len(self.done)} of {len(self.grid)} runs done, {len(self.running)} running"
        failed = f"{len(self.failed)} failed" if self.failed else ""
        return ", ".join(part for part in (counts, failed, self.rate.remaining(), self.best()) if part)


class Watch:
    """Messages and progress on standard error."""

    EVERY = 10.0  # seconds between plain lines

    def __init__(self) -> None:
        self.shown = time.monotonic()
        self.terminal = sys.stderr.isatty()
        self.bar: Bar | None = None

    def say(self, sentence: str) -> None:
        """Print a line that stays."""
        if self.bar:
            self.bar.say(sentence)
        else:
            print(sentence, file=sys.stderr, flush=True)

    def show(self, progress: GridProgress) -> None:
        """Show how far the grid is, every second on a terminal and less often elsewhere."""
        now = time.monotonic()
        if now - self.shown < (1.0 if self.terminal else self.EVERY):
            return
        self.shown = now
        if not self.terminal:
            print(progress.sentence(), file=sys.stderr, flush=True)
            return
        self.bar = self.bar or Bar()
        self.bar.show(progress.spent(), progress.sentence())

    def close(self) -> None:
        """Remove the bar; plain messages may follow."""
        if self.bar:
            self.bar.close()
            self.bar = None
