"""Random numbers that are the same on every platform and Python version.

Python promises that `random()` and `getrandbits()` of a seeded `random.Random` stay as they are, and nothing of
`randint`, `choice` or `shuffle`; so bounded integers and shuffles are built here, on `getrandbits`.

A stream is keyed by hashing whatever names it (seed, split, purpose, block), never by adding numbers to a seed, so
neighbouring seeds have nothing in common:

>>> rng = stream(7, "train", "example", 0)
>>> [below(rng, 10) for _ in range(8)]
[8, 5, 7, 8, 1, 4, 2, 7]
>>> shuffled(stream(7, "train", "example", 1), "abcdef")
['f', 'd', 'c', 'a', 'b', 'e']
"""

from __future__ import annotations

import json
from hashlib import blake2b
from random import Random
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable

T = TypeVar("T")


def stream(*key: int | str) -> Random:
    """A generator of its own for this key."""
    # JSON keeps ("1", 2) and (1, "2") and ("a,b",) and ("a", "b") apart.
    digest = blake2b(json.dumps(key).encode(), digest_size=16).digest()
    return Random(int.from_bytes(digest, "big"))


def below(rng: Random, bound: int) -> int:
    """A uniform integer in [0, bound), exactly uniform by rejection."""
    bits = (bound - 1).bit_length()
    value = rng.getrandbits(bits)
    while value >= bound:
        value = rng.getrandbits(bits)
    return value


def shuffled(rng: Random, items: Iterable[T]) -> list[T]:
    """The items in a uniformly random order."""
    pool = list(items)
    return [pool.pop(below(rng, len(pool))) for _ in range(len(pool))]
