"""What train and validation share, side by side with reasoning-gym: both through its own `create_dataset`.

    make setup && .venv/bin/python benchmarks/splits.py

reasoning-gym has no splits: seed 1 is called train and seed 2 validation, as its users do. Item i of seed s is drawn
from `Random(s + i)`, so neighbouring seeds are the same items, one further on. execlab's tasks are asked for by split
as well.
"""

from __future__ import annotations

import contextlib
import io
import platform
import sys
from importlib.metadata import version

import reasoning_gym

from execlab.integrations.reasoning_gym import register

ROWS = 5_000
THEIRS = ("chain_sum", "basic_arithmetic")


def questions(name: str, seed: int, **options: object) -> set[str]:
    with contextlib.redirect_stdout(io.StringIO()):  # some of reasoning-gym's own print
        return {entry["question"] for entry in reasoning_gym.create_dataset(name, seed=seed, size=ROWS, **options)}


def main() -> None:
    register()
    print(f"{platform.python_version()}, reasoning-gym {version('reasoning-gym')}, {ROWS:,} rows each\n")
    print(f"{'task':28} {'distinct in train':>18} {'of them in validation':>22}")
    ours = []
    for name in THEIRS:
        train, validation = questions(name, 1), questions(name, 2)
        print(f"{name:28} {len(train):>18,} {len(train & validation):>22,}")
    for name, length, nesting in (("program", 4, 2), ("addition", 4, 1), ("memorization", 8, 1)):
        options = {"length": length, "nesting": nesting}
        train = questions(f"execlab_{name}", 1, split="train", **options)
        validation = questions(f"execlab_{name}", 2, split="validation", **options)
        ours.append(len(train & validation))
        print(f"{'execlab_' + name:28} {len(train):>18,} {ours[-1]:>22,}")
    print(f"\nexeclab shares {sum(ours)} (bar 0): {'met' if not any(ours) else 'NOT MET'}")
    sys.exit(any(ours))


if __name__ == "__main__":
    main()
