"""One run of a grid in its own process, on any machine. Imports no PyTorch, so that starting one is fast."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, NamedTuple

from execlab.files import open_to_append

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    Process = subprocess.Popen[bytes]

# Like `python -m execlab.experiments.run.work`, but nothing is imported from the folder that this is started in.
WORKER = "import sys; sys.path = [p for p in sys.path if p]; from execlab.experiments.run.work import main; main()"
BEGINS = "-- begins "  # in a log
SAVING = 30.0  # seconds that a stopped run has for its last checkpoint


class Ended(NamedTuple):
    """A run that is no longer running, and why, if it is not finished."""

    name: str
    reason: str


def is_finished(run: Path) -> bool:
    """Whether a run is over and scored."""
    return (run / "report.json").exists()


def command(folder: Path, name: str, *trusted: str) -> list[str]:
    """The worker's command line; `trusted` are the import paths that it may import."""
    return [sys.executable, "-c", WORKER, str(folder), name, *trusted]


def start(folder: Path, name: str, *trusted: str) -> Process:
    """Begin or resume a run of the grid in `folder`; the process ends when this one does."""
    logs = folder / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    with open_to_append(logs / f"{name}.log", folder) as log:
        log.write(f"{BEGINS}{time.strftime('%Y-%m-%d %H:%M:%S')}\n".encode())
        log.flush()
        return subprocess.Popen(  # noqa: S603 - ourselves
            command(folder, name, *trusted),
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            start_new_session=True,  # Ctrl-C reaches it through stop()
        )


def reason(folder: Path, name: str, process: Process) -> str:
    """Why a process that has ended left its run unfinished; empty if it did not."""
    if process.stdin:
        process.stdin.close()
    if is_finished(folder / "runs" / name):
        return ""
    if process.returncode < 0:
        return f"killed by signal {-process.returncode}"
    log = (folder / "logs" / f"{name}.log").read_text(errors="replace")
    lines = log.rpartition(BEGINS)[2].splitlines()  # of this try
    last = lines[-1] if lines[1:] else "ended early"
    return next((line for line in reversed(lines) if line.startswith("error: ")), last).removeprefix("error: ")


def stop(processes: Collection[Process]) -> None:
    """Let all of them save and end."""
    for process in processes:
        if process.poll() is None:
            process.terminate()  # SIGINT may be blocked in what a cluster starts
    deadline = time.monotonic() + SAVING
    for process in processes:
        try:
            process.wait(max(deadline - time.monotonic(), 0.1))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
