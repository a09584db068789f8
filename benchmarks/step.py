"""A step of the preset `laptop`: its share of the matmul roof, two threads beside one, and both on a busy machine.

    make setup && .venv/bin/python benchmarks/step.py [--rounds 9] [--precision float32] [--busy 0 1 3]

Programs (2, 2) and addition of 5 digits, drawing the samples included. Runs with one thread and with two take rounds of
steps in turns, on the same batches; figures are medians over rounds. The roof is what PyTorch's matrix multiplication
reaches with one thread on the step's own shapes: the best shape in the best round. A share of it counts only the
matmuls that are mathematically needed: the first layer's input is a row of a table, logits are wanted only where an
answer counts, and of a symmetric matrix only one half. Other processes are counting loops of the same priority.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from execlab.curriculum import make_strategy
from execlab.training import hardware, loop
from execlab.training.ahead import draw_ahead
from execlab.training.config import make_config
from execlab.training.muon import ITERATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execlab.data.batches import Batch
    from execlab.models.model import Model
    from execlab.training.config import Precision

TASKS = {"programs (2, 2)": ("program", 2, 2), "addition of 5 digits": ("addition", 5, 1)}
STEPS = 20  # of a round; every round has the same batches
BARS = {0: 1.7, 1: 1.0, 3: 0.8}  # times one thread, by how many other processes are busy


class Runner:
    """A run that takes the same steps in every round."""

    def __init__(self, task: str, length: int, nesting: int, precision: Precision, threads: int) -> None:
        kind = {"task": task, "length": length, "nesting": nesting, "strategy": "baseline"}
        how = {"precision": precision, "threads": threads, "device": "cpu"}
        config = make_config("laptop", None, **kind, **how)
        self.config = hardware.resolve(config)
        self.run = loop.new_run(self.config, Path(tempfile.gettempdir()))
        self.feed = loop.make_feed(self.config, make_strategy("baseline", self.config.goal))
        batches = [self.feed.batch(step) for step in range(STEPS)]
        self.characters = sum(len(batch.ids) for batch in batches)
        self.needed = sum(self._needed(len(batch.ids), int((batch.targets >= 0).sum())) for batch in batches)
        self.orthogonal = STEPS * orthogonalizing(self.run.model)

    def _needed(self, characters: int, answered: int) -> float:
        """Operations of the network's matmuls in a step."""
        options, vocabulary = self.config.model_options, self.run.model.vocabulary
        cells: int = options["cells"]
        table: int = vocabulary * options["embedding"] * 4 * cells
        return characters * self.run.model.flops_per_character() + 6.0 * (table + answered * vocabulary * cells)

    def seconds(self) -> float:
        """A round."""
        begin = time.perf_counter()
        ahead: dict[int, Batch] = {}
        for number in range(STEPS):
            batch = ahead.pop(number, None) or self.feed.batch(number)
            self.run.counters.step = number
            if number + 1 < STEPS:
                draw_ahead(self.run, self.feed, ahead)
            loop.step(self.run, batch)
        return time.perf_counter() - begin


def orthogonalizing(model: Model) -> float:
    """Operations of Muon's matmuls in a step; of a symmetric product only one half."""
    total = 0.0
    for parameter, blocks in model.matrices():
        small, large = sorted((parameter.shape[0] // blocks, parameter.shape[1]))
        total += blocks * ITERATIONS * (small * (small + 1) * (small + large) + 2.0 * large * small * small)
    return total


def roof(characters: int, cells: int, dtype: torch.dtype) -> float:
    """Operations per second of PyTorch's matmul with one thread on the step's shapes: of the best one, once."""
    shapes = [(32, cells, 4 * cells), (characters, cells, 4 * cells), (characters, 4 * cells, cells)]
    shapes += [(4 * cells, characters, cells), (cells, cells, cells)]
    best = 0.0
    for m, k, n in shapes:
        a, b = torch.randn(m, k).to(dtype), torch.randn(k, n).to(dtype)
        times = max(1, int(2e7 / (m * k * n)))
        for _ in range(5):
            begin = time.perf_counter()
            for _ in range(times):
                torch.mm(a, b)
            best = max(best, 2.0 * m * k * n * times / (time.perf_counter() - begin))
    return best


@contextmanager
def busy(count: int) -> Iterator[None]:
    """So many other processes that do nothing but count."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--precision", default="float32", choices=["float32", "bfloat16"])
    parser.add_argument("--busy", type=int, nargs="*", default=list(BARS), help="how many other processes")
    asked = parser.parse_args()
    load = f"load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    print(f"{asked.rounds} rounds of {STEPS} steps, {os.cpu_count()} cores, {load} before, torch {torch.__version__}")
    for name, (task, length, nesting) in TASKS.items():
        runners = {threads: Runner(task, length, nesting, asked.precision, threads) for threads in (1, 2)}
        first = runners[1]
        print(f"{name}, {asked.precision}, {first.run.model.kernel.name if first.run.model.kernel else 'PyTorch'}")
        for others in asked.busy:
            times: dict[int, list[float]] = {threads: [] for threads in runners}
            top = 0.0
            with busy(others):
                for number in range(asked.rounds + 1):
                    for threads, runner in runners.items():  # in turns, so that a slow moment hits all
                        seconds = runner.seconds()
                        if number:
                            times[threads].append(seconds)
                    if not others:
                        dtype = torch.bfloat16 if asked.precision == "bfloat16" else torch.float32
                        top = max(top, roof(first.characters // STEPS, first.config.model_options["cells"], dtype))
            one, two = (statistics.median(times[threads]) for threads in runners)
            ratio, bar = one / two, BARS.get(others, 0.0)
            rates = ", ".join(f"{first.characters / seconds:,.0f}" for seconds in (one, two))
            print(f"  {others} other busy processes: {rates} characters/s with 1 and 2 threads; ", end="")
            print(f"2 threads / 1: {ratio:.2f} (bar {bar}): {'met' if ratio >= bar else 'NOT MET'}")
            if top:
                share, network = (first.needed + first.orthogonal) / one / top, first.needed / one / top
                print(f"  one thread: {share:.0%} of the roof of {top / 1e9:.0f} GFLOP/s is needed work", end=" ")
                print(f"(bar 60 %, of which Muon {share - network:.0%}): {'met' if share >= 0.6 else 'NOT MET'}")


if __name__ == "__main__":
    main()
