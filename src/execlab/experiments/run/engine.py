"""A grid of runs from wherever it stands to its end, whoever does the work: start what is free, see what ended, try
again what failed, and show how far everything is."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from execlab.experiments.analyse.rows import recorded
from execlab.experiments.run import processes
from execlab.experiments.run.processes import Ended, is_finished
from execlab.experiments.run.work import check_same, read_recorded, write_grid
from execlab.training import runs
from execlab.training.checkpoints import newest_step

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from execlab.experiments import Planned

TRIES = 3  # of a run that gets no further


class Engine(Protocol):
    """Who does the work."""

    def free(self) -> bool:
        """Whether one more run can start."""

    def start(self, name: str) -> None:
        """Begin or go on with a run."""

    def ended(self) -> list[Ended]:
        """The runs that have ended since the last call."""

    def stop(self) -> None:
        """Let every run save itself and end."""


class LocalEngine:
    """Processes on this machine, one thread each."""

    def __init__(self, folder: Path, workers: int) -> None:
        self.folder, self.workers = folder, workers
        self.processes: dict[str, processes.Process] = {}

    def free(self) -> bool:
        """Fewer processes than workers."""
        return len(self.processes) < self.workers

    def start(self, name: str) -> None:
        """A process of its own."""
        self.processes[name] = processes.start(self.folder, name)

    def ended(self) -> list[Ended]:
        """Those whose process is gone."""
        gone = [name for name, process in self.processes.items() if process.poll() is not None]
        return [Ended(name, processes.reason(self.folder, name, self.processes.pop(name))) for name in gone]

    def stop(self) -> None:
        """Tell all, then wait."""
        processes.stop(self.processes.values())


@dataclass
class Standing:
    """How far a grid is."""

    folder: Path
    grid: Sequence[Planned]
    began: float = field(default_factory=time.monotonic)
    done: list[str] = field(default_factory=list)
    running: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)  # name: reason
    spent_before: float = -1.0

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
        lines = runs.read_metrics(self.folder / "runs" / planned.name)
        config = planned.config
        if not lines:
            return 0.0
        limits = ((config.steps, "step"), (config.samples, "samples"), (config.characters, "characters"))
        return max((lines[-1][column] / limit for limit, column in limits if limit), default=0.0)

    def best(self) -> str:
        """The best accuracy among the runs so far."""
        lines = {name: runs.read_metrics(self.folder / "runs" / name) for name in (*self.done, *self.running)}
        found = [
            (max(line["goal_teacher_forced_accuracy"] for line in said), name) for name, said in lines.items() if said
        ]
        return "best so far {:.1%} ({})".format(*max(found)) if found else ""

    def sentence(self) -> str:
        """Everything in one line."""
        spent, elapsed = self.spent(), time.monotonic() - self.began
        if self.spent_before < 0:
            self.spent_before = spent
        gained = spent - self.spent_before
        left = f"{elapsed * (1 - spent) / gained:,.0f} s left" if gained > 0 else ""
        counts = f"{len(self.done)} of {len(self.grid)} runs done, {len(self.running)} running"
        failed = f"{len(self.failed)} failed" if self.failed else ""
        return ", ".join(part for part in (counts, failed, left, self.best()) if part)


def run_grid(
    grid: Sequence[Planned],
    folder: Path,
    engine: Engine,
    watch: Watch,
    tries: int = TRIES,
    record: Callable[[], None] = lambda: None,
) -> Standing:
    """All runs to their end; a run that fails is tried again, and never stops the others.

    A run with a row in the folder's results is finished, whether or not its own folder is still there. A try that got
    further than the ones before does not count: losing a worker is no fault of the run. `record` is called after every
    run that ends well.
    """
    standing = Standing(folder, grid)
    rows = read_recorded(folder, grid, recorded(folder))
    for planned in grid:
        if is_finished(run := folder / "runs" / planned.name):
            check_same(run, planned.config)
        elif planned.name not in rows:
            continue
        standing.done.append(planned.name)
    names = {planned.name for planned in grid}
    write_grid(folder, [*grid, *(planned for name, planned in rows.items() if name not in names)])
    waiting = [planned.name for planned in grid if planned.name not in standing.done]
    attempts = dict.fromkeys(waiting, 0)
    reached = {name: newest_step(folder / "runs" / name / "checkpoints") for name in waiting}
    if standing.done:
        watch.say(f"{len(standing.done)} runs are finished already")
    try:
        while waiting or standing.running:
            while waiting and engine.free():
                name = waiting.pop(0)
                attempts[name] += 1
                engine.start(name)
                standing.running.append(name)
            for name, reason in engine.ended():
                standing.running.remove(name)
                if (step := newest_step(folder / "runs" / name / "checkpoints")) > reached[name]:
                    attempts[name], reached[name] = 0, step
                if not reason:
                    standing.done.append(name)
                    record()
                elif attempts[name] < tries:
                    again = f"trying again ({attempts[name] + 1} of {tries})"
                    watch.say(f"{name} failed ({reason}) after the checkpoint of step {step:,}; {again}")
                    waiting.append(name)
                else:
                    watch.say(f"{name} failed {tries} times and is left out: {reason}")
                    standing.failed[name] = reason
            watch.show(standing)
            time.sleep(0.1)
    except BaseException:
        engine.stop()
        raise
    return standing


class Watch:
    """Lines on standard error; a live one on a terminal."""

    EVERY = 10.0

    def __init__(self) -> None:
        self.shown = time.monotonic()
        self.live = sys.stderr.isatty()

    def say(self, sentence: str) -> None:
        """A line that stays."""
        print(f"\r\033[K{sentence}" if self.live else sentence, file=sys.stderr, flush=True)

    def show(self, standing: Standing) -> None:
        """How far everything is, now and then."""
        now = time.monotonic()
        if now - self.shown < (1.0 if self.live else self.EVERY):
            return
        self.shown = now
        line = standing.sentence()
        print(f"\r\033[K{line}" if self.live else line, end="" if self.live else "\n", file=sys.stderr, flush=True)
