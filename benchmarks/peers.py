"""How soon sums of three digits are learned: execlab beside what a user would write instead, in one sitting.

    make setup && .venv/bin/python benchmarks/peers.py [--seeds 0 1 2] [--threads 1] [--peers PyTorch Keras]

- execlab: `execlab train --preset laptop --task addition --length 3`.
- PyTorch: a plain nn.LSTM of the same size with AdamW. It reads "123+989=1112." and predicts the next character,
  teacher-forced; the loss counts the characters of the sum.
- Keras: the well-known addition example. One LSTM of 128 reads the reversed question, RepeatVector hands its state to
  another one of 128, softmax per character; Adam, batches of 32, the same 50,000 samples in every epoch. The backend is
  JAX, or PyTorch with `--backend torch`.
- Keras-fresh: the same, with samples that are never repeated, as in the first two.

All of them train on execlab's training split and are scored by free-running exact match on the same validation samples,
equally often. One after the other, each in a process of its own on as many cores as `--threads`. The clock starts after
the imports. A peer is stopped at `--times` times what execlab took to 99 %, by wall-clock and by CPU seconds. The bar
is about wall-clock; on a busy machine CPU seconds are the steadier figure.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from execlab.tasks import Sample
    from execlab.training.metrics import Metrics

EXECLAB = "execlab"
LEVELS = (0.9, 0.99)
BAR = 10.0
CLOCKS = {"seconds": "seconds", "cpu": "CPU seconds"}
DIGITS = 3
DISTINCT = 50_000  # samples of the example
CHARACTERS = " 0123456789+=."


class EnoughError(Exception):
    """The level is reached, or the time is over."""


class Scores:
    """Prints every score with the time since the start, as JSON; ends the run when it has reached the last level."""

    def __init__(self, limits: dict[str, float]) -> None:
        self.limits = limits
        self.start()

    def start(self) -> None:
        """The clock starts here."""
        self.began, self.used = time.perf_counter(), time.process_time()

    def add(self, samples: int, exact: float) -> None:
        """Exact match after so many samples."""
        spent = {"seconds": time.perf_counter() - self.began, "cpu": time.process_time() - self.used}
        print(json.dumps({"samples": samples, "exact": exact, **spent}), flush=True)
        if exact >= LEVELS[-1] or all(spent[clock] > limit for clock, limit in self.limits.items()):
            raise EnoughError


def training_samples(seed: int, every: int, distinct: int = 0) -> Iterator[list[Sample]]:
    """Samples of execlab's training split without end, as many at a time as lie between two evaluations.

    With `distinct` they are the first ones, shuffled again in every epoch.
    """
    from execlab.data.sampling import Source
    from execlab.randomness import stream
    from execlab.tasks import Difficulty, make_task

    source = Source(make_task("addition", {}), Difficulty(DIGITS), "train", seed)
    if distinct:
        samples, epoch = [row.sample for row in source.rows(0, distinct)], 0
        shuffled: list[Sample] = []
        while True:
            while len(shuffled) < every:
                shuffled += stream(seed, "epoch", epoch).sample(samples, distinct)
                epoch += 1
            yield shuffled[:every]
            del shuffled[:every]
    start = 0
    while True:
        yield [row.sample for row in source.rows(start, start + every)]
        start += every


def held_out(asked: argparse.Namespace) -> list[Sample]:
    """The samples on which execlab's own run is scored."""
    from execlab.training.loop import validation_samples

    config = execlab_config(asked)
    return validation_samples(config, config.goal, asked.count)


def execlab_config(asked: argparse.Namespace) -> Any:
    """The preset as it is, with more validation samples so that 99 % means something."""
    from execlab.training.config import make_config

    changes = {"seed": asked.seed, "data_seed": asked.seed, "threads": asked.threads, "evaluate_count": asked.count}
    changes |= {"samples": asked.samples} if asked.samples else {}
    return make_config("laptop", task="addition", length=DIGITS, **changes)


def question(sample: Sample) -> str:
    """The sum without print( and )."""
    return sample.input[len("print(") : -1]


def run_execlab(asked: argparse.Namespace, scores: Scores) -> None:
    """The command's own loop."""
    from execlab.training import loop
    from execlab.training.view import View

    class Watch(View):
        def evaluated(self, metrics: Metrics, predictions: object) -> None:
            del predictions
            scores.add(metrics.samples, metrics.goal_exact_match)

    with tempfile.TemporaryDirectory() as folder:
        scores.start()
        loop.train(execlab_config(asked), Path(folder) / "run", view=Watch())


def run_pytorch(asked: argparse.Namespace, scores: Scores) -> None:
    """Next character, teacher-forced."""
    import torch
    from torch import nn

    torch.set_num_threads(asked.threads)
    torch.manual_seed(asked.seed)

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(len(CHARACTERS), 64)
            self.lstm = nn.LSTM(64, 128, num_layers=2, batch_first=True)
            self.output = nn.Linear(128, len(CHARACTERS))

        def forward(self, ids: torch.Tensor, state: Any = None) -> tuple[torch.Tensor, Any]:
            features, state = self.lstm(self.embedding(ids), state)
            return self.output(features), state

    def encode(texts: list[str]) -> torch.Tensor:
        width = max(map(len, texts))
        return torch.tensor([[CHARACTERS.index(c) for c in text.ljust(width)] for text in texts])

    def correct(network: Network, samples: list[Sample]) -> float:
        with torch.no_grad():
            ids, state, printed = encode([question(sample) + "=" for sample in samples]), None, []
            for _ in range(DIGITS + 2):
                logits, state = network(ids, state)
                ids = logits[:, -1:].argmax(-1)
                printed.append(ids)
        rows = torch.cat(printed, 1).tolist()
        texts = ["".join(CHARACTERS[i] for i in row).partition(".")[0] for row in rows]
        return sum(text == s.target for text, s in zip(texts, samples, strict=True)) / len(samples)

    judged, before = held_out(asked), len("123+989=")
    scores.start()
    network = Network()
    optimizer = torch.optim.AdamW(network.parameters(), lr=asked.learning_rate)
    for done, samples in enumerate(training_samples(asked.seed, asked.every), 1):
        ids = encode([f"{question(sample)}={sample.target}." for sample in samples])
        for batch in torch.split(ids, asked.batch):
            logits, _ = network(batch[:, :-1])
            targets = batch[:, before:]
            loss = nn.functional.cross_entropy(
                logits[:, before - 1 :].reshape(-1, len(CHARACTERS)), targets.reshape(-1), ignore_index=0
            )
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
        scores.add(done * asked.every, correct(network, judged))


def run_keras(asked: argparse.Namespace, scores: Scores, distinct: int = DISTINCT) -> None:
    """The architecture and settings of the addition example."""
    os.environ["KERAS_BACKEND"] = asked.backend
    import keras
    import numpy as np

    if asked.backend == "torch":
        import torch

        torch.set_num_threads(asked.threads)
    keras.utils.set_random_seed(asked.seed)
    characters = CHARACTERS[:12]
    hot = np.eye(len(characters), dtype=np.float32)

    def encode(texts: list[str], width: int) -> Any:
        return hot[[[characters.index(c) for c in text.ljust(width)] for text in texts]]

    def questions(samples: list[Sample]) -> Any:
        return encode([question(sample)[::-1] for sample in samples], 2 * DIGITS + 1)

    def correct(samples: list[Sample]) -> float:
        rows = model.predict(questions(samples), batch_size=len(samples), verbose=0).argmax(-1)
        texts = ["".join(characters[i] for i in row).rstrip() for row in rows]
        return sum(text == s.target for text, s in zip(texts, samples, strict=True)) / len(samples)

    judged = held_out(asked)
    scores.start()
    model = keras.Sequential(
        [
            keras.layers.Input((2 * DIGITS + 1, len(characters))),
            keras.layers.LSTM(128),
            keras.layers.RepeatVector(DIGITS + 1),
            keras.layers.LSTM(128, return_sequences=True),
            keras.layers.Dense(len(characters), activation="softmax"),
        ]
    )
    model.compile(loss="categorical_crossentropy", optimizer="adam")
    for done, samples in enumerate(training_samples(asked.seed, asked.every, distinct), 1):
        targets = encode([sample.target for sample in samples], DIGITS + 1)
        model.fit(questions(samples), targets, batch_size=32, verbose=0)
        scores.add(done * asked.every, correct(judged))


PEERS: dict[str, Callable[[argparse.Namespace, Scores], None]] = {
    EXECLAB: run_execlab,
    "PyTorch": run_pytorch,
    "Keras": run_keras,
    "Keras-fresh": partial(run_keras, distinct=0),
}


def measure(name: str, seed: int, limits: dict[str, float], threads: int) -> list[dict[str, float]]:
    """All scores of one of them, from a process of its own."""
    print(f"seed {seed}, {name}", flush=True)
    words = [sys.executable, __file__, *sys.argv[1:], "--worker", name, "--seed", str(seed)]
    words += ["--limits", json.dumps(limits)]
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "JAX_PLATFORMS": "cpu"}
    lines = []
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        for text in process.stdout:
            lines.append(line := json.loads(text))
            spent = f"{line['seconds']:7.1f} s  {line['cpu']:7.1f} CPU s"
            print(f"  {spent}  {line['samples']:>9,} samples  {line['exact']:6.1%}", flush=True)
    if process.returncode:
        sys.exit(f"{name} failed")
    return lines


def first(lines: list[dict[str, float]], level: float) -> dict[str, float] | None:
    """The first score at or above a level."""
    return next((line for line in lines if line["exact"] >= level), None)


def table(scores: dict[str, list[list[dict[str, float]]]]) -> None:
    """Medians over the seeds; a level that half of the seeds did not reach has none."""
    print(f"\n{'exact match':12}" + "".join(f"{f'{level:.0%}':>36}" for level in LEVELS))
    print(" " * 12 + f"{'samples':>12}{'seconds':>8}{'CPU s':>8}{'reached':>8}" * len(LEVELS))
    for name, seeds in scores.items():
        cells = []
        for level in LEVELS:
            hits = [line for lines in seeds if (line := first(lines, level))]
            cell = f"{'-':>12}{'-':>8}{'-':>8}"
            if len(hits) * 2 > len(seeds):
                middle = {key: statistics.median(line[key] for line in hits) for key in ("samples", "seconds", "cpu")}
                cell = f"{middle['samples']:>12,.0f}{middle['seconds']:>8.1f}{middle['cpu']:>8.1f}"
            cells.append(cell + f"{f'{len(hits)} of {len(seeds)}':>8}")
        print(f"{name:12}" + "".join(cells))


def ratios(scores: dict[str, list[list[dict[str, float]]]], times: float) -> None:
    """How many times as long as execlab the faster peer took to the last level, by each clock."""
    peers = [name for name in scores if name != EXECLAB]
    middle = {}
    for clock, unit in CLOCKS.items():
        smallest = []
        for number, ours in enumerate(scores[EXECLAB]):
            reached = first(ours, LEVELS[-1])
            taken = {name: first(scores[name][number], LEVELS[-1]) for name in peers}
            if reached is None:
                print(f"execlab did not reach {LEVELS[-1]:.0%}")
                smallest.append(0.0)
                continue
            by = {name: line[clock] / reached[clock] if line else times for name, line in taken.items()}
            words = [f"{name} {'' if taken[name] else '> '}{ratio:.1f}" for name, ratio in by.items()]
            print(f"times execlab's {unit} to {LEVELS[-1]:.0%}: {', '.join(words)}")
            smallest.append(min(by.values(), default=0.0))
        middle[clock] = statistics.median(smallest)
    for clock, unit in CLOCKS.items():
        shown = f"> {times:.1f}" if middle[clock] >= times else f"{middle[clock]:.1f}"
        print(f"the faster peer's {unit}, median over seeds: {shown} times execlab's", end="")
        print(f" (bar: {BAR:.0f}): {'met' if middle[clock] >= BAR else 'NOT MET'}" if clock == "seconds" else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--samples", type=int, help="execlab's budget; otherwise that of the preset")
    parser.add_argument("--peers", nargs="*", choices=[name for name in PEERS if name != EXECLAB])
    parser.add_argument("--backend", choices=("jax", "torch"), default="jax", help="of Keras")
    parser.add_argument("--learning-rate", type=float, default=1e-3, help="of PyTorch's AdamW")
    parser.add_argument("--batch", type=int, default=32, help="of PyTorch")
    parser.add_argument("--count", type=int, default=500, help="held-out samples")
    parser.add_argument("--every", type=int, default=3_200, help="samples between evaluations, as in the preset")
    parser.add_argument("--times", type=float, default=BAR, help="patience with a peer")
    for hidden, kind in (("--worker", str), ("--seed", int), ("--limits", json.loads)):
        parser.add_argument(hidden, type=kind, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.worker:
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-asked.threads :])
        with suppress(EnoughError):
            PEERS[asked.worker](asked, Scores(asked.limits))
        return

    names = [EXECLAB, *(asked.peers if asked.peers is not None else list(PEERS)[1:])]
    scores: dict[str, list[list[dict[str, float]]]] = {name: [] for name in names}
    for seed in asked.seeds:
        limits = dict.fromkeys(CLOCKS, float("inf"))
        for name in names:
            scores[name].append(lines := measure(name, seed, limits, asked.threads))
            if name == EXECLAB:
                limits = {clock: asked.times * lines[-1][clock] for clock in CLOCKS}
    table(scores)
    ratios(scores, asked.times)
    print(f"{asked.threads} of {os.cpu_count()} cores each, {asked.count} held-out samples, seeds {asked.seeds}")


if __name__ == "__main__":
    main()
