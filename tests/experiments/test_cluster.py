"""A grid on a real Ray cluster of three nodes on this machine, one of which is killed in the middle."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # Ray would take 127.0.0.1 for the address of a network card

import ray

from execlab.errors import ExeclabError
from execlab.experiments import Planned
from execlab.experiments.analyse.rows import Row, read_rows
from execlab.experiments.run.cluster import OBJECT_STORE, RayEngine
from execlab.experiments.run.display import GridProgress, Watch
from execlab.experiments.run.engine import LocalEngine
from execlab.experiments.run.reproduce import reproduce
from execlab.training.checkpoints import newest_step
from execlab.training.config import make_config

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    from ray.cluster_utils import Cluster

    node = {
        "num_cpus": 1,
        "object_store_memory": OBJECT_STORE,
        "node_ip_address": "127.0.0.1",
        "include_dashboard": False,
    }
    quick = {"health_check_period_ms": 1000, "health_check_failure_threshold": 3, "health_check_initial_delay_ms": 0}
    cluster = Cluster(initialize_head=True, head_node_args={**node, "_system_config": quick})
    for _ in range(2):
        cluster.add_node(**node)
    yield cluster
    ray.shutdown()
    cluster.shutdown()


def parent(process: int) -> int:
    try:
        return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return 0


def working_below(ancestor: int) -> list[str]:
    """The names of the runs whose processes descend from another process."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except (FileNotFoundError, ProcessLookupError):
            continue
        above = int(folder.name)
        while above not in (0, ancestor):
            above = parent(above)
        if above and any(b"execlab.experiments.run.work" in word for word in words):
            found.append(words[-2].decode())
    return found


class NodeKiller(Watch):
    """Kills a node as soon as its run has a checkpoint to go on from."""

    def __init__(self, cluster: Any) -> None:
        super().__init__()
        self.cluster, self.killed = cluster, list[str]()
        self.victim = cluster.list_all_nodes()[-1]
        self.raylet = self.victim.all_processes["raylet"][0].process.pid

    def show(self, progress: GridProgress) -> None:
        if not self.killed:
            names = working_below(self.raylet)
            if any(newest_step(progress.folder / "runs" / name / "checkpoints") > 0 for name in names):
                self.killed = names
                self.cluster.remove_node(self.victim, allow_graceful=False)


def accuracies(folder: Path) -> list[Row]:
    return [replace(row, seconds=0) for row in read_rows(folder)]


def test_a_grid_outlives_a_node(cluster: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = make_config("smoke", task="addition", length=2, steps=400, evaluate_every=20, threads=1)
    grid = [Planned(f"seed-{seed}", config.__class__(**{**vars(config), "seed": seed})) for seed in range(4)]
    killer = NodeKiller(cluster)
    ray.shutdown()
    engine = RayEngine(tmp_path / "ray", None, cluster.address)
    assert engine.workers == 3
    progress = reproduce("addition", "smoke", grid, tmp_path / "ray", engine, killer)
    assert sorted(progress.done) == [planned.name for planned in grid]
    assert not progress.failed
    (lost,) = killer.killed
    assert re.search(rf"{lost} failed \(lost: \w+\) after the checkpoint of step \d+", capsys.readouterr().err)
    said = (tmp_path / "ray" / "logs" / f"{lost}.log").read_text()
    assert [int(step.replace(",", "")) > 0 for step in re.findall(r"resuming .* from step ([\d,]+)", said)] == [True]
    reproduce("addition", "smoke", grid, tmp_path / "local", LocalEngine(tmp_path / "local", 2), Watch())
    assert accuracies(tmp_path / "ray") == accuracies(tmp_path / "local")


class Impatient(Watch):
    """Presses Ctrl-C as soon as a run has a checkpoint to go on from."""

    def show(self, progress: GridProgress) -> None:
        if any(newest_step(progress.folder / "runs" / name / "checkpoints") > 0 for name in progress.running):
            raise KeyboardInterrupt


def test_ctrl_c_lets_the_runs_save(cluster: Any, tmp_path: Path) -> None:
    config = make_config("smoke", task="addition", length=2, steps=100_000, evaluate_every=20, threads=1)
    ray.shutdown()
    engine = RayEngine(tmp_path, 1, cluster.address)
    with pytest.raises(KeyboardInterrupt):
        reproduce("addition", "smoke", [Planned("one", config)], tmp_path, engine, Impatient())
    assert "stopped at step" in (tmp_path / "logs" / "one.log").read_text()
    assert not [folder for folder in Path("/proc").glob("[0-9]*") if str(tmp_path) in command(folder)]


def command(folder: Path) -> str:
    try:
        return (folder / "cmdline").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def test_no_cluster_at_an_address(tmp_path: Path) -> None:
    ray.shutdown()
    for address, reason in (("127.0.0.1:1", "refused"), ("nowhere", ".")):
        with pytest.raises(ExeclabError, match=f"no Ray cluster could be joined at {address}: .*{reason}"):
            RayEngine(tmp_path, None, address)
