"""Metrics of a run: one line of metrics.jsonl per evaluation.

>>> line = Metrics(step=10, samples=320, length=2, nesting=1, current_teacher_forced_accuracy=0.5,
...                goal_teacher_forced_accuracy=0.25, distribution=((1, 1, 0.25), (2, 1, 0.75)))
>>> parse(json.dumps(line.to_json()).encode()).distribution
((1, 1, 0.25), (2, 1, 0.75))
>>> parse(b'{"step": 10}') is None
True
"""

from __future__ import annotations

import json
from dataclasses import MISSING, dataclass, fields
from math import nan
from typing import TYPE_CHECKING, Any

from execlab.files import open_to_append, read_regular, write_atomically

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NAME = "metrics.jsonl"
LARGEST = 1 << 28  # bytes of metrics.jsonl
LARGEST_DIFFICULTY = 10_000  # length or nesting in a distribution
Shares = tuple[tuple[int, int, float], ...]  # (length, nesting, share of the training samples)


@dataclass(frozen=True, kw_only=True)
class Metrics:
    """One evaluation; the fields of a line in their order. A value that a line lacks is nan."""

    step: int
    samples: int
    characters: int = 0
    seconds: float = nan
    length: int
    nesting: int
    learning_rate: float = nan
    loss: float = nan
    training_teacher_forced_accuracy: float = nan
    current_teacher_forced_accuracy: float
    goal_teacher_forced_accuracy: float
    goal_exact_match: float = nan
    distribution: Shares | None = None  # of the difficulties since the last evaluation; of adaptive strategies

    def numbers(self) -> dict[str, float]:
        """Everything but the distribution."""
        return {name: getattr(self, name) for name in _NUMBERS}

    def to_json(self) -> dict[str, Any]:
        """The line as JSON."""
        return self.numbers() | ({} if self.distribution is None else {"distribution": self.distribution})


_NUMBERS = tuple(each.name for each in fields(Metrics) if each.name != "distribution")
_NEEDED = tuple(each.name for each in fields(Metrics) if each.default is MISSING)


def read_distribution(value: object) -> Shares:
    """The shares of training difficulties in a line, easiest first; malformed entries are ignored.

    >>> read_distribution([[2, 1, 0.75], [1, 1, 0.25], [3, 1, "much"], None])
    ((1, 1, 0.25), (2, 1, 0.75))
    """
    shares: dict[tuple[int, int], float] = {}
    for entry in value if isinstance(value, list) else ():
        if not isinstance(entry, list) or len(entry) != 3:
            continue
        length, nesting, share = entry
        known = all(type(part) is int and 1 <= part <= LARGEST_DIFFICULTY for part in (length, nesting))
        if known and type(share) in (int, float) and 0 < share <= 1:
            shares[length, nesting] = share
    return tuple((*difficulty, share) for difficulty, share in sorted(shares.items()))


def parse(line: bytes) -> Metrics | None:
    """A line of metrics.jsonl; None if it is damaged."""
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(values, dict):
        return None
    numbers = {name: values[name] for name in _NUMBERS if isinstance(values.get(name), int | float)}
    if not all(name in numbers for name in _NEEDED):
        return None
    shares = read_distribution(values["distribution"]) if "distribution" in values else None
    return Metrics(**numbers, distribution=shares)


def read_metrics(folder: Path) -> list[Metrics]:
    """The lines of metrics.jsonl that are whole."""
    return [metrics for metrics, _ in _lines(folder)[0]]


def damaged_metrics(folder: Path) -> int:
    """How many lines of metrics.jsonl are damaged; a last one without its end does not count, a kill leaves it."""
    return _lines(folder)[1]


def _lines(folder: Path) -> tuple[list[tuple[Metrics, bytes]], int]:
    """The whole lines, each as it is in the file too, and the number of damaged ones."""
    try:
        data = read_regular(folder / NAME, LARGEST)
    except FileNotFoundError:
        return [], 0
    whole, damaged = [], 0
    *lines, last = data.split(b"\n")
    for line in (*lines, last):
        if (metrics := parse(line)) is not None:
            whole.append((metrics, line))
        elif line is not last:
            damaged += 1
    return whole, damaged


def keep_metrics(folder: Path, step: int, check: Callable[[], None] = lambda: None) -> None:
    """Drop the lines after a step, and damaged ones; the others stay as they are."""
    kept = b"".join(line + b"\n" for metrics, line in _lines(folder)[0] if metrics.step <= step)
    write_atomically(folder / NAME, kept, check, root=folder)


def append_metrics(folder: Path, metrics: Metrics) -> None:
    """Append one line, in one write that is on disk when this returns."""
    with open_to_append(folder / NAME, folder) as file:
        file.write((json.dumps(metrics.to_json()) + "\n").encode())
