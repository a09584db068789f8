"""Whether products in bfloat16 change what is learned: the same runs in both precisions, seed by seed.

    make setup && .venv/bin/python benchmarks/precision.py [--seeds 3] [--length 3] [--samples 150000]

Equal samples, validation accuracy at the goal at the end, the mean of the paired differences with its 95 % interval.
Where the CPU has no bfloat16 of its own the numbers are the same, only slowly made: seconds then say nothing.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from execlab.experiments.analyse.summary import mean
from execlab.training import loop
from execlab.training.config import make_config
from execlab.training.metrics import read_metrics

COLUMNS = ("goal_teacher_forced_accuracy", "goal_exact_match")


def trained(seed: int, precision: str, asked: argparse.Namespace) -> dict[str, float]:
    """The last evaluation of a run."""
    config = make_config(
        task="addition",
        length=asked.length,
        samples=asked.samples,
        seed=seed,
        data_seed=seed,
        precision=precision,
        evaluate_count=1_000,
        threads=asked.threads,
        device="cpu",
    )
    with tempfile.TemporaryDirectory() as folder:
        last = read_metrics(loop.train(config, Path(folder) / "run"))[-1]
    scores = {column: last.numbers()[column] for column in COLUMNS}
    print(f"seed {seed}  {precision:8}  {last.seconds:5.0f} s  " + "  ".join(f"{s:.2%}" for s in scores.values()))
    return scores


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--length", type=int, default=3)
    parser.add_argument("--samples", type=int, default=150_000)
    parser.add_argument("--threads", type=int, default=0)
    asked = parser.parse_args()
    pairs = [
        tuple(trained(seed, precision, asked) for precision in ("float32", "bfloat16")) for seed in range(asked.seeds)
    ]
    for column in COLUMNS:
        gap = mean([halved[column] - full[column] for full, halved in pairs])
        inside = gap.low <= 0 <= gap.high
        print(
            f"{column}: bfloat16 minus float32 {gap.value:+.2%}, 95 % interval {gap.low:+.2%} to {gap.high:+.2%}: "
            f"{'no difference shown' if inside else 'DIFFERENT'}"
        )


if __name__ == "__main__":
    main()
