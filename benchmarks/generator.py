"""How fast samples are drawn, side by side with reasoning-gym, in one process and one run.

    make setup && .venv/bin/python benchmarks/generator.py

Rounds alternate between all contestants, so that a slow moment of the machine hits all alike; the median of each
one's rounds counts. Both sides hand out finished dictionaries through their `create_dataset`; execlab is measured also
at its inner interface, which is what training and export use.
"""

from __future__ import annotations

import contextlib
import io
import os
import platform
import statistics
import tempfile
import time
import warnings
from typing import TYPE_CHECKING, Any

import reasoning_gym

import execlab
from execlab.data.sampling import Source
from execlab.tasks import Difficulty
from execlab.tasks.program import ProgramTask

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROUNDS = 9
SECONDS = 0.4  # per contestant and round

PROGRAM = Source(ProgramTask(), Difficulty(4, 2), "test")


def entries(dataset: Any) -> Iterator[object]:
    """Every entry; one that fails to be made (some of codeio's do) counts like the others."""
    for i in range(len(dataset)):
        try:
            yield dataset[i]
        except Exception as error:
            yield error


def theirs(name: str) -> Callable[[int], Iterator[object]]:
    return lambda seed: entries(reasoning_gym.create_dataset(name, size=10**9, seed=seed))


CONTESTANTS: dict[str, Callable[[int], Iterator[object]]] = {
    "chain_sum": theirs("chain_sum"),
    "bf": theirs("bf"),
    "codeio": theirs("codeio"),
    "execlab, one split": lambda seed: Source(PROGRAM.task, PROGRAM.goal, "test", seed).rows(),
    "execlab, unfiltered": lambda seed: Source(PROGRAM.task, PROGRAM.goal, None, seed).rows(),
    "execlab, one split, as dataset": lambda seed: iter(
        execlab.create_dataset("program", length=4, nesting=2, split="test", seed=seed, size=10**9)
    ),
}

BARS = [
    ("execlab, one split", "bf", 12.0, 25.0),
    ("execlab, one split", "codeio", 100.0, None),
    ("execlab, unfiltered", "chain_sum", 0.8, None),
]


def rate(samples: Iterator[object]) -> float:
    """Samples per second over about `SECONDS`."""
    next(samples)  # load whatever is loaded once
    count, begin = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - begin) < SECONDS:
        for _ in range(20):
            next(samples)
        count += 20
    return count / elapsed


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)  # codeio's snippets write files
        measure()


def measure() -> None:
    rates: dict[str, list[float]] = {name: [] for name in CONTESTANTS}
    for number in range(ROUNDS):
        for name, samples in CONTESTANTS.items():
            with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # codeio's snippets warn and print
                rates[name].append(rate(samples(1 + number * 10**6)))
    medians = {name: statistics.median(values) for name, values in rates.items()}
    print(f"{platform.python_version()} on {platform.machine()}, {os.cpu_count()} cores, one process")
    print(f"programs at length 4, nesting 2; median of {ROUNDS} rounds\n")
    for name, median in medians.items():
        low, high = min(rates[name]), max(rates[name])
        print(f"{name:32} {median:>10,.0f} samples/s   ({low:,.0f} to {high:,.0f})")
    print()
    for ours, other, bar, moonshot in BARS:
        ratio = medians[ours] / medians[other]
        hope = f", moonshot {moonshot:g}" if moonshot else ""
        verdict = "met" if ratio >= bar else "NOT MET"
        print(f"{ours} / {other}: {ratio:.2f} (bar {bar:g}{hope}): {verdict}")


if __name__ == "__main__":
    main()
