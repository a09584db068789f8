"""Means over seeds with their intervals, and differences between strategies seed by seed.

>>> mean([0.5, 0.6, 0.7])
Mean(value=0.6, low=0.351..., high=0.848..., n=3)
>>> mean([0.5])
Mean(value=0.5, low=0.5, high=0.5, n=1)
"""

from __future__ import annotations

import statistics
from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    Row = Mapping[str, Any]

# Student's t, 97.5 %, by degrees of freedom; beyond the table the normal one.
_T = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131)


class Mean(NamedTuple):
    """A mean over seeds with its 95 % interval; of one seed there is none, and low and high are the value."""

    value: float
    low: float
    high: float
    n: int

    @property
    def half(self) -> float:
        """Half the interval's width."""
        return (self.high - self.low) / 2


def mean(values: Sequence[float]) -> Mean:
    """The mean and its interval."""
    n, middle = len(values), statistics.fmean(values)
    if n < 2:
        return Mean(middle, middle, middle, n)
    half = (_T[n - 2] if n - 2 < len(_T) else 1.96) * statistics.stdev(values) / sqrt(n)
    return Mean(middle, middle - half, middle + half, n)


def grouped(rows: Iterable[Row], key: Callable[[Row], Any]) -> dict[Any, list[Row]]:
    """Rows by key, in their order."""
    found: dict[Any, list[Row]] = {}
    for line in rows:
        found.setdefault(key(line), []).append(line)
    return found


def cell(line: Row) -> tuple[int, int, str, str]:
    """What must be equal for two strategies to be compared."""
    return line["length"], line["nesting"], line["modification"], line["budget"]


def difference(rows: Iterable[Row], one: str, other: str, column: str) -> dict[Any, Mean]:
    """Per cell the mean of `one` minus `other`, seed by seed."""
    found = {}
    for where, lines in grouped(rows, cell).items():
        by = {(line["strategy"], line["seed"]): line[column] for line in lines}
        seeds = sorted({seed for strategy, seed in by if strategy == one and (other, seed) in by})
        if seeds:
            found[where] = mean([by[one, seed] - by[other, seed] for seed in seeds])
    return found
