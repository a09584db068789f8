"""Long sums from scratch: the preset speedrun, seed by seed, scored on the test split, beside what it has to reach.

    make setup && .venv/bin/python benchmarks/speedrun.py [--length 9] [--samples N] [--seeds 0 1 2] [--threads 1]

One core and half an hour per seed for nine digits. A run that was stopped goes on, one that is finished is only read;
`--out` says where they are.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from execlab.experiments.run.work import work
from execlab.training import hardware
from execlab.training.config import make_config
from execlab.training.report import read_report

NINE = {"minutes": 90.0, "teacher_forced_accuracy": 0.99, "exact_match": 0.95}
FIVE = {"samples": 1_600_000, "exact_match": 0.99}
BARS: dict[int, dict[str, float]] = {5: FIVE, 9: NINE}
AT_MOST = ("minutes", "samples")


def trained(seed: int, asked: argparse.Namespace) -> dict[str, float]:
    """What a run took and reached."""
    limit: dict[str, Any] = {"samples": asked.samples} if asked.samples else {}
    config = hardware.resolve(
        make_config(
            "speedrun",
            length=asked.length,
            seed=seed,
            data_seed=seed,
            threads=asked.threads,
            precision=asked.precision,
            **limit,
        )
    )
    cores = None if config.threads == 1 else f"{config.threads}-cores"
    parts = ["addition", config.length, seed, config.precision, asked.samples, cores]
    folder = asked.out / "-".join(str(part) for part in parts if part is not None)
    work(folder, config)
    report = read_report(folder / "report.json")
    scores = report.test.scores
    return {
        "samples": report.counters.samples,
        "minutes": report.counters.seconds / 60,
        "teacher_forced_accuracy": scores.teacher_forced_accuracy.value,
        "exact_match": scores.exact_match.value,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--length", type=int, default=9)
    parser.add_argument("--samples", type=int, help="the budget; otherwise that of the preset")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--precision", choices=("auto", "float32", "bfloat16"), default="auto")
    parser.add_argument("--out", type=Path, default=Path("runs/speedrun"))
    asked = parser.parse_args()
    found = {seed: trained(seed, asked) for seed in asked.seeds}
    for seed, said in found.items():
        print(
            f"{asked.length} digits, seed {seed}: {said['samples']:,.0f} samples, {said['minutes']:.1f} minutes; "
            f"characters {said['teacher_forced_accuracy']:.2%} (teacher-forced), "
            f"whole sums {said['exact_match']:.2%} (free-running)"
        )
    print(f"threads: {asked.threads or 'all'}; {hardware.processor()}")
    for name, bar in BARS.get(asked.length, {}).items():
        values = [said[name] for said in found.values()]
        met = max(values) <= bar if name in AT_MOST else min(values) >= bar
        told = f"{bar:,.0f} at most" if name in AT_MOST else f"{bar:.0%} at least"
        worst = f"{max(values):,.0f}" if name in AT_MOST else f"{min(values):.2%}"
        print(f"{name}: worst of {len(values)} seeds {worst} (bar: {told}): {'met' if met else 'NOT MET'}")


if __name__ == "__main__":
    main()
