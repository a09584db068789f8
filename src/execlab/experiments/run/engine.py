"""Run a grid to its end: start runs while workers are free, collect those that ended, retry those that failed.

An engine does the work: processes on this machine, or tasks on a cluster (cluster.py)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Protocol

from execlab import registry
from execlab.experiments.analyse.rows import recorded
from execlab.experiments.run import processes
from execlab.experiments.run.display import GridProgress
from execlab.experiments.run.processes import Ended, is_finished
from execlab.experiments.run.work import check_same, read_recorded, write_grid
from execlab.training.checkpoints import newest_step

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from execlab.experiments import Planned
    from execlab.experiments.run.display import Watch

TRIES = 3  # of a run that makes no progress


class Engine(Protocol):
    """Does the work of a grid."""

    def free(self) -> bool:
        """Whether another run can start."""

    def start(self, name: str) -> None:
        """Begin or resume a run."""

    def ended(self) -> list[Ended]:
        """The runs that have ended since the last call."""

    def stop(self) -> None:
        """Let every run save a checkpoint and end."""


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
        self.processes[name] = processes.start(self.folder, name, *registry.trusted())

    def ended(self) -> list[Ended]:
        """The runs whose process has ended."""
        gone = [name for name, process in self.processes.items() if process.poll() is not None]
        return [Ended(name, processes.reason(self.folder, name, self.processes.pop(name))) for name in gone]

    def stop(self) -> None:
        """Ask every process to stop, then wait for all."""
        processes.stop(self.processes.values())


def run_grid(
    grid: Sequence[Planned],
    folder: Path,
    engine: Engine,
    watch: Watch,
    tries: int = TRIES,
    record: Callable[[], None] = lambda: None,
) -> GridProgress:
    """Run a grid to its end; a run that fails is tried again and never stops the others.

    A run with a row in the folder's results is finished, whether or not its own folder is still there. A try that got
    further than the ones before does not count, because a lost worker is not the run's fault. `record` is called
    after every run that finishes.
    """
    progress = GridProgress(folder, grid)
    rows = read_recorded(folder, grid, recorded(folder))
    for planned in grid:
        if is_finished(run := folder / "runs" / planned.name):
            check_same(run, planned.config)
        elif planned.name not in rows:
            continue
        progress.done.append(planned.name)
    names = {planned.name for planned in grid}
    write_grid(folder, [*grid, *(planned for name, planned in rows.items() if name not in names)])
    waiting = [planned.name for planned in grid if planned.name not in progress.done]
    attempts = dict.fromkeys(waiting, 0)
    reached = {name: newest_step(folder / "runs" / name / "checkpoints") for name in waiting}
    if progress.done:
        watch.say(f"{len(progress.done)} runs are finished already")
    try:
        while waiting or progress.running:
            while waiting and engine.free():
                name = waiting.pop(0)
                attempts[name] += 1
                engine.start(name)
                progress.running.append(name)
            for name, reason in engine.ended():
                progress.running.remove(name)
                if (step := newest_step(folder / "runs" / name / "checkpoints")) > reached[name]:
                    attempts[name], reached[name] = 0, step
                if not reason:
                    progress.done.append(name)
                    record()
                elif attempts[name] < tries:
                    again = f"trying again ({attempts[name] + 1} of {tries})"
                    watch.say(f"{name} failed ({reason}) after the checkpoint of step {step:,}; {again}")
                    waiting.append(name)
                else:
                    watch.say(f"{name} failed {tries} times and is left out: {reason}")
                    progress.failed[name] = reason
            watch.show(progress)
            time.sleep(0.1)
    except BaseException:
        engine.stop()
        raise
    finally:
        watch.close()
    return progress
