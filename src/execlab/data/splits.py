"""Train, validation and test: a stable hash of a sample's canonical form, modulo 3 (the paper's section 6).

The paper hashes the text. Here two inputs that differ only in something that does not matter are always in the same
split: for programs the names of variables, layout, needless parentheses and the order of the operands of + and *
(programs/canonical.py), for sums the order of the operands, for memorized digits invert and double. That holds in every
dialect, for every seed, on every machine, and for whatever a person types.

>>> split_of("addition", "print(398345+425098)"), split_of("addition", "print(425098 + 398345)")
('validation', 'validation')
>>> split_of("program", "a=3;\\nprint((a+5))") == split_of("program", "b = 3\\nprint(5 + b)")
True
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Literal, get_args

from execlab.tasks import Task, make_task

Split = Literal["train", "validation", "test"]
SPLITS: tuple[Split, ...] = get_args(Split)

# The first number that gives each split its fair share of the smallest spaces, counted in canonical forms: spaces of
# ten fall 4, 3, 3, and no split has under 30 % of a space below a thousand. tests/data/test_salt.py lists these spaces.
SALT = "177456"

# Raised whenever any byte of any stream would change: the hash, the keys, the generators, the order of draws, and what
# is identified in a canonical form. Version 1, of execlab 0.2, split_of_canonical the plain text.
DATA_VERSION = 2


def split_of(task: Task | str, input: str) -> Split:
    """The split of an input, however it is written, the same everywhere and for ever (within a `DATA_VERSION`).

    The name of a task stands for that task without options.
    """
    task = make_task(task, {}) if isinstance(task, str) else task
    return split_of_canonical(task.name, task.canonical(task.plain(input)))


def split_of_canonical(task: str, canonical: str) -> Split:
    """The split of a canonical form."""
    digest = blake2b(f"{SALT} {task} {canonical}".encode(), digest_size=8).digest()
    return SPLITS[int.from_bytes(digest, "big") % 3]
