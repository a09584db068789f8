"""How many test samples are trained on under another name, with the splits of data version 1 and with those of today.

    .venv/bin/python benchmarks/overlap.py [--train 300000] [--test 10000]

Version 1 hashed the plain text. A test sample counts if its canonical form (names of variables, layout, order of
operands aside) is among those of the training draws.
"""

from __future__ import annotations

import argparse
from hashlib import blake2b
from typing import TYPE_CHECKING

from execlab.data.splits import SPLITS, Split, split_of_canonical
from execlab.randomness import stream
from execlab.tasks import Difficulty, Sample, Task, make_task

if TYPE_CHECKING:
    from collections.abc import Callable

SETTINGS = [
    *(
        ("program", {"dialect": d}, (length, n))
        for d in ("released", "appendix")
        for length in (1, 2, 4)
        for n in (1, 2)
    ),
    ("program", {}, (4, 3)),
    *(("addition", {}, (length, 1)) for length in (1, 2, 3, 4)),
    ("memorization", {}, (5, 1)),
]


def by_text(task: Task, sample: Sample) -> Split:
    """The rule of data version 1."""
    digest = blake2b(f"526 {task.name} {sample.input}".encode(), digest_size=8).digest()
    return SPLITS[int.from_bytes(digest, "big") % 3]


def by_form(task: Task, sample: Sample) -> Split:
    """The rule of today."""
    return split_of_canonical(task.name, sample.canonical or task.canonical(sample.input))


def shared(task: Task, goal: Difficulty, rule: Callable[[Task, Sample], Split], train: int, test: int) -> float:
    """The share of so many test samples whose canonical form is among those of so many training samples."""
    rng = stream("overlap", task.name, task.variant, *goal)
    trained, drawn = set[str](), 0
    tested: list[str] = []
    while drawn < train or len(tested) < test:
        sample = task.draw(rng, goal)
        split = rule(task, sample)
        if split == "train" and drawn < train:
            drawn += 1
            trained.add(sample.canonical or task.canonical(sample.input))
        elif split == "test" and len(tested) < test:
            tested.append(sample.canonical or task.canonical(sample.input))
    return sum(form in trained for form in tested) / test


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", type=int, default=300_000, help="training samples")
    parser.add_argument("--test", type=int, default=10_000, help="test samples")
    chosen = parser.parse_args()
    print(
        f"of {chosen.test:,} test samples, the share whose form is among those of {chosen.train:,} training samples\n"
    )
    print(f"{'task':22} length nesting   hash of the text   hash of the form")
    for name, options, (length, nesting) in SETTINGS:
        task, goal = make_task(name, options), Difficulty(length, nesting)
        shares = [shared(task, goal, rule, chosen.train, chosen.test) for rule in (by_text, by_form)]
        title = f"{name}, {task.variant}" if task.variant else name
        print(f"{title:22} {length:>6} {nesting:>7} {shares[0]:>18.1%} {shares[1]:>18.1%}", flush=True)


if __name__ == "__main__":
    main()
