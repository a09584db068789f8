"""The same grid on a Ray cluster: one that exists, or one started on this machine.

A run is a Ray task that starts and watches the same process that the local engine starts. All nodes see
the grid's folder (a shared file system); what is lost with a node is what a run did since its last checkpoint. A
process whose node was given up may still be alive: the mark of ownership in the run's folder (locking.py) keeps it
from writing once another has taken over.
"""

from __future__ import annotations

import logging
import os
import socket
import time
from pathlib import Path
from typing import Any

from execlab import registry
from execlab.errors import ExeclabError
from execlab.experiments.run import processes
from execlab.experiments.run.processes import Ended

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing leaves this machine
os.environ.setdefault("RAY_worker_niceness", "0")  # of a cluster started here: as fast as the local engine
os.environ.setdefault("RAY_kill_child_processes_on_worker_exit", "0")  # they end by themselves, and save before
os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")

import ray
from ray.exceptions import RayError

OBJECT_STORE = 80_000_000  # bytes; a task gives back a sentence


def attend(folder: str, name: str, *trusted: str) -> str:
    """Run one run of the grid to its end; returns why it is not finished, or nothing."""
    process = processes.start(Path(folder), name, *trusted)
    try:
        while process.poll() is None:
            time.sleep(0.2)  # a wait() would not notice that the task is cancelled
    except BaseException:
        processes.stop([process])
        raise
    return processes.reason(Path(folder), name, process)


_attend = ray.remote(num_cpus=1, max_retries=0)(attend)  # retries are the grid's, so that they are counted and reported


class RayEngine:
    """Tasks on a Ray cluster, one core each."""

    def __init__(self, folder: Path, workers: int | None, address: str | None = None) -> None:
        self.folder = folder.resolve()  # the same path on every node
        self.tasks: dict[str, Any] = {}
        connect(workers, address)
        self.workers = workers or int(ray.cluster_resources().get("CPU", 1))

    def free(self) -> bool:
        """Fewer tasks than workers; Ray finds the node."""
        return len(self.tasks) < self.workers

    def start(self, name: str) -> None:
        """A task for a run."""
        self.tasks[name] = _attend.remote(str(self.folder), name, *registry.trusted())

    def ended(self) -> list[Ended]:
        """Those whose task is over, or lost with its worker or node."""
        gone = [name for name, task in self.tasks.items() if ray.wait([task], timeout=0)[0]]
        return [Ended(name, self._reason(name, self.tasks.pop(name))) for name in gone]

    def _reason(self, name: str, task: Any) -> str:
        try:
            return str(ray.get(task))
        except RayError as error:
            return "" if processes.is_finished(self.folder / "runs" / name) else f"lost: {type(error).__name__}"

    def stop(self) -> None:
        """Cancel all tasks; each lets its process save."""
        tasks = list(self.tasks.values())
        for task in tasks:
            ray.cancel(task)
        if tasks:
            ray.wait(tasks, num_returns=len(tasks), timeout=processes.SAVING + 5)


def connect(workers: int | None, address: str | None) -> None:
    """Join the cluster at an address, or start one on this machine that only this machine can reach."""
    shared: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}
    try:
        if address:
            host, _, port = address.rpartition(":")
            if host and port.isdecimal() and "://" not in address:  # Ray itself would try for minutes
                socket.create_connection((host, int(port)), timeout=10).close()
            ray.init(address=address, **shared)
        else:
            ray.init(
                address="local",
                num_cpus=workers,
                include_dashboard=False,
                object_store_memory=OBJECT_STORE,
                _node_ip_address="127.0.0.1",
                **shared,
            )
    except (OSError, OverflowError, RuntimeError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        raise ExeclabError(f"no Ray cluster could be joined{f' at {address}' if address else ''}: {reason}") from None
