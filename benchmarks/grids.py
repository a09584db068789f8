"""Grids of runs: two workers beside one on eight equal runs, and what the dry run tells beside what then happens.

    make setup && .venv/bin/python benchmarks/grids.py [workers] [dry-run] [models]

Without words it does all three; dry runs are compared for every experiment and for every model. Nothing else should be
running on the machine.
"""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from execlab.experiments import EXPERIMENTS, Planned, make_grid
from execlab.experiments.run import cost
from execlab.experiments.run.display import Watch
from execlab.experiments.run.engine import LocalEngine
from execlab.experiments.run.reproduce import reproduce
from execlab.models import MODELS
from execlab.training.config import make_config

RUNS = 8
SAMPLES = 20_000


def seconds(experiment: str, grid: list[Planned], workers: int) -> float:
    """From the first start to the report."""
    with tempfile.TemporaryDirectory() as scratch:
        begin = time.perf_counter()
        progress = reproduce(experiment, "smoke", grid, Path(scratch), LocalEngine(Path(scratch), workers), Watch())
        assert len(progress.done) == len(grid)
        return time.perf_counter() - begin


def compare_workers() -> None:
    config = make_config("laptop", task="addition", length=3, samples=SAMPLES, threads=1)
    grid = [Planned(f"seed-{seed}", replace(config, seed=seed)) for seed in range(RUNS)]
    taken = {workers: seconds("addition", grid, workers) for workers in (1, 2)}
    print(f"{RUNS} equal runs of {SAMPLES:,} samples: one worker {taken[1]:.1f} s, two {taken[2]:.1f} s; ", end="")
    print(f"ratio {taken[1] / taken[2]:.2f} (bar 1.7)", flush=True)


def compare_dry_runs() -> None:
    for experiment in EXPERIMENTS:
        grid, workers = make_grid(experiment, "smoke"), cost.workers_here()
        told = cost.whole(cost.estimate(grid), workers)
        took = seconds(experiment, grid, workers)
        print(
            f"{experiment:14} told {told:5.1f} s, took {took:5.1f} s; ratio {told / took:.2f} (bar 0.5 to 2)",
            flush=True,
        )


def compare_models() -> None:
    for model in MODELS:
        config = make_config("laptop", model=model, task="addition", length=3, samples=SAMPLES, threads=1)
        grid = [Planned(model, config)]
        told = cost.whole(cost.estimate(grid), 1)
        took = seconds("addition", grid, 1)
        print(f"{model:14} told {told:5.1f} s, took {took:5.1f} s; ratio {told / took:.2f} (bar 0.5 to 2)", flush=True)


if __name__ == "__main__":
    words = sys.argv[1:] or ["workers", "dry-run", "models"]
    if "workers" in words:
        compare_workers()
    if "dry-run" in words:
        compare_dry_runs()
    if "models" in words:
        compare_models()
