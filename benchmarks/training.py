"""The training step beside a bare PyTorch loop of the same model, batch and window, in one run.

    make setup && .venv/bin/python benchmarks/training.py [--steps 200]

Both do the paper's step (stream feed, batch 100, window 50, 2 layers of 400, SGD 0.5, gradient norm 5). The bare loop
is nn.Embedding, nn.LSTM and nn.Linear in float32 on ready-made random batches: no data generation, no bookkeeping.
execlab's rows include drawing the samples. The roof is what PyTorch's matrix multiplication does with the paper's
shapes in the same run; a share of it counts only the multiplications that are mathematically needed: the first layer's
input is a row of a table, and logits are wanted only where an answer counts.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import nn

from execlab.curriculum import make_strategy
from execlab.training import hardware, loop
from execlab.training.config import Config, make_config

if TYPE_CHECKING:
    from collections.abc import Iterator

V = 41
BARE = "bare PyTorch"


def bare(config: Config) -> Iterator[float]:
    """Seconds per step of the bare loop."""
    embedding = nn.Embedding(V, config.model_options["embedding"])
    lstm = nn.LSTM(config.model_options["embedding"], config.model_options["cells"], config.model_options["layers"])
    output = nn.Linear(config.model_options["cells"], V)
    parameters = [*embedding.parameters(), *lstm.parameters(), *output.parameters()]
    optimizer = torch.optim.SGD(parameters, lr=config.learning_rate)
    state = tuple(
        torch.zeros(config.model_options["layers"], config.batch, config.model_options["cells"]) for _ in range(2)
    )
    while True:
        ids = torch.randint(0, V, (config.window, config.batch))
        begin = time.perf_counter()
        h, after = lstm(embedding(ids), state)
        state = tuple(part.detach() for part in after)
        loss = nn.functional.cross_entropy(output(h).flatten(0, 1), ids.flatten(), reduction="sum") / config.batch
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(parameters, config.clip)
        optimizer.step()
        yield time.perf_counter() - begin


def ours(config: Config, drawing: list[float]) -> Iterator[float]:
    """Seconds per step of execlab, data generation included."""
    with tempfile.TemporaryDirectory() as folder:
        run = loop.new_run(config, Path(folder))
        feed = loop.make_feed(config, make_strategy("baseline", config.goal))
        step = 0
        while True:
            begin = time.perf_counter()
            batch = feed.batch(step)
            drawn = time.perf_counter()
            loop.step(run, batch)
            drawing.append(drawn - begin)
            step += 1
            yield time.perf_counter() - begin


def roof(config: Config, dtype: torch.dtype) -> Iterator[float]:
    """Seconds per floating-point operation of the paper's products: one character's rows, and a window's at once."""
    n, rows = config.model_options["cells"], config.batch
    weight = torch.randn(n, 4 * n).to(dtype)
    shapes = [torch.randn(rows, n).to(dtype)] * config.window + [torch.randn(rows * config.window, n).to(dtype)]
    operations = sum(2 * x.shape[0] * n * 4 * n for x in shapes)
    while True:
        begin = time.perf_counter()
        for x in shapes:
            torch.mm(x, weight)
        yield (time.perf_counter() - begin) / operations


def needed(config: Config) -> int:
    """Operations per character that learning cannot do without: forward, and twice as many backward."""
    n, layers = config.model_options["cells"], config.model_options["layers"]
    return 3 * 2 * int(layers * n * 4 * n + (layers - 1) * n * 4 * n)


def memory() -> float:
    """Peak resident megabytes of a training run of its own."""
    with tempfile.TemporaryDirectory() as folder:
        run = ["train", "--preset", "paper", "--length", "6", "--nesting", "3", "--strategy", "mix", "--steps", "100"]
        subprocess.run(
            [sys.executable, "-m", "execlab", *run, "--out", f"{folder}/run"], check=True, capture_output=True
        )
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--threads", type=int, default=0)
    asked = parser.parse_args()
    common = {"length": 6, "nesting": 3, "strategy": "mix", "threads": asked.threads, "device": "cpu"}
    config = hardware.resolve(make_config("paper", **common))
    torch.set_num_threads(config.threads)
    drawing: list[float] = []
    contestants = {BARE: bare(config)}
    fast = f"execlab, {config.kernel} kernel"
    float32 = hardware.resolve(make_config("paper", precision="float32", **common))
    plain = hardware.resolve(make_config("paper", precision="float32", kernel="torch", **common))
    contestants["execlab, torch kernel, float32"] = ours(plain, [])
    contestants[f"{fast}, float32"] = ours(float32, drawing)
    if config.precision != "float32":
        contestants[f"{fast}, {config.precision}"] = ours(config, drawing)
    roofs = {"float32": roof(config, torch.float32), "bfloat16": roof(config, torch.bfloat16)}

    everyone = contestants | roofs
    times: dict[str, list[float]] = {name: [] for name in everyone}
    for number in range(asked.steps + 3):
        for name, steps_of in everyone.items():  # in turns, so that a slow moment hits all
            if name in roofs and number % 10:
                continue
            seconds = next(steps_of)
            if number >= 3:
                times[name].append(seconds)
    medians = {name: statistics.median(seconds) for name, seconds in times.items()}

    characters = config.batch * config.window
    rates = {name: characters / medians[name] for name in contestants}
    tops = {name: 1 / medians[name] / 1e9 for name in roofs}
    bf16 = "in hardware" if hardware.multiplies_bfloat16() else "which this CPU does not have: computed in float32"
    print(f"{asked.steps} steps each, {config.threads} threads, {os.cpu_count()} cores, {torch.__version__}")
    print(f"matrix multiplication: float32 {tops['float32']:.0f} GFLOP/s, bfloat16 {tops['bfloat16']:.0f} ({bf16})")
    for name, rate in rates.items():
        work = "" if name == BARE else f"  {rate * needed(config) / 1e9:4.0f} GFLOP/s of needed work"
        print(f"{name:34} {rate:>7,.0f} characters/s  {rate / rates[BARE]:.2f} times the bare loop{work}")
    best = f"{fast}, {config.precision}"
    bars = [
        ("execlab in float32 / bare PyTorch", rates[f"{fast}, float32"] / rates[BARE], 1.25),
        ("execlab at its best / bare PyTorch", rates[best] / rates[BARE], 2.2),
    ]
    share = rates[best] * needed(config) / 1e9 / tops[config.precision]
    bars.append((f"share of the {config.precision} roof that is needed work", share, 0.65))
    for what, value, bar in bars:
        print(f"{what}: {value:.2f} (bar {bar}): {'met' if value >= bar else 'NOT MET'}")
    drawn = statistics.median(drawing[3:]) / medians[f"{fast}, float32"]
    print(f"drawing samples takes {drawn:.1%} of a step (bar 10 %)")
    print(f"peak memory of a run of 100 steps: {memory():,.0f} MB (bar 1,500)")


if __name__ == "__main__":
    main()
