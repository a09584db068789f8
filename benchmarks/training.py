"""The training step beside a bare PyTorch loop of the same model, batch and window, in one run.

    make setup && .venv/bin/python benchmarks/training.py [--steps 200]

Both do the paper's step (stream feed, batch 100, window 50, 2 layers of 400, SGD 0.5, gradient norm 5). The bare loop
is nn.Embedding, nn.LSTM and nn.Linear on ready-made random batches: no data generation, no bookkeeping.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import nn

from execlab.training import loop, runs
from execlab.training.config import Config, make_config

if TYPE_CHECKING:
    from collections.abc import Iterator

V = 41


def bare(config: Config) -> Iterator[float]:
    """Seconds per step of the bare loop."""
    embedding = nn.Embedding(V, config.embedding)
    lstm = nn.LSTM(config.embedding, config.cells, config.layers)
    output = nn.Linear(config.cells, V)
    parameters = [*embedding.parameters(), *lstm.parameters(), *output.parameters()]
    optimizer = torch.optim.SGD(parameters, lr=config.learning_rate)
    state = tuple(torch.zeros(config.layers, config.batch, config.cells) for _ in range(2))
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
        run = loop._new(config, Path(folder))
        feed = loop.make_feed(config)
        step = 0
        while True:
            begin = time.perf_counter()
            batch = feed.batch(step, config.goal)
            drawn = time.perf_counter()
            loop.step(run, batch)
            drawing.append(drawn - begin)
            step += 1
            yield time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--threads", type=int, default=0)
    steps = parser.parse_args()
    config = runs.resolve(
        make_config("paper", length=6, nesting=3, strategy="mix", threads=steps.threads, device="cpu")
    )
    torch.set_num_threads(config.threads)
    drawing: list[float] = []
    contestants = {"bare PyTorch": bare(config), "execlab": ours(config, drawing)}
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for number in range(steps.steps + 3):
        for name, steps_of in contestants.items():  # in turns, so that a slow moment hits both
            seconds = next(steps_of)
            if number >= 3:
                times[name].append(seconds)
    characters = config.batch * config.window
    rates = {name: characters / statistics.median(seconds) for name, seconds in times.items()}
    print(f"{steps.steps} steps each, {config.threads} threads, {os.cpu_count()} cores, {torch.__version__}")
    for name, rate in rates.items():
        print(f"{name:14} {rate:>9,.0f} characters/s")
    share = statistics.median(drawing[3:]) / statistics.median(times["execlab"])
    print(f"drawing samples takes {share:.1%} of a step (bar 10 %)")
    ratio = rates["execlab"] / rates["bare PyTorch"]
    print(f"execlab / bare PyTorch: {ratio:.2f} (bar 0.95): {'met' if ratio >= 0.95 else 'NOT MET'}")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")


if __name__ == "__main__":
    main()
