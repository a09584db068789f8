"""A training step with the recurrence in C beside the same step with it in PyTorch, at several sizes, in one run; in C
also with products in bfloat16, where the processor has them.

    make setup && .venv/bin/python benchmarks/kernels.py [--steps 30] [--threads 0]

Addition of 9 digits, aligned feed, the optimizer of the laptop preset; drawing the samples included.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from execlab.curriculum import make_strategy
from execlab.training import hardware, loop
from execlab.training.config import Config, make_config

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZES = [(64, 32), (128, 32), (128, 64), (256, 32), (256, 64), (400, 100)]  # cells, batch


def steps(config: Config) -> Iterator[float]:
    """Seconds per step."""
    with tempfile.TemporaryDirectory() as folder:
        run, feed = loop.new_run(config, Path(folder)), loop.make_feed(config, make_strategy("baseline", config.goal))
        while True:
            begin = time.perf_counter()
            loop.step(run, feed.batch(run.counters.step))
            run.counters.step += 1
            yield time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--threads", type=int, default=0)
    asked = parser.parse_args()
    common = {"task": "addition", "length": 9, "strategy": "baseline", "device": "cpu", "threads": asked.threads}
    kinds = [("torch", "float32"), ("native", "float32")]
    if hardware.multiplies_bfloat16():
        kinds.append(("native", "bfloat16"))
    for cells, batch in SIZES:
        size = {"cells": cells, "batch": batch, **common}
        rows = {kind: steps(hardware.resolve(make_config(kernel=kind[0], precision=kind[1], **size))) for kind in kinds}
        times: dict[tuple[str, str], list[float]] = {kind: [] for kind in rows}
        for _ in range(asked.steps + 3):
            for kind, row in rows.items():  # in turns, so that a slow moment hits all
                times[kind].append(next(row))
        medians = {kind: 1e3 * statistics.median(times[kind][3:]) for kind in rows}
        first = medians[kinds[0]]
        words = [f"{' '.join(kind)} {ms:6.1f} ms ({first / ms:.2f})" for kind, ms in medians.items()]
        print(f"2 x {cells:3} cells, batch {batch:3}: {', '.join(words)}", flush=True)
    print("in brackets: times as fast as the first")
    print(f"{torch.get_num_threads()} threads, {os.cpu_count()} cores, torch {torch.__version__}")


if __name__ == "__main__":
    main()
