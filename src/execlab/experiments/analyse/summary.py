"""Means over seeds with their intervals, and differences between strategies seed by seed.

>>> mean([0.5, 0.6, 0.7])
Mean(value=0.6, low=0.351..., high=0.848..., n=3)
>>> mean([0.5])
Mean(value=0.5, low=0.5, high=0.5, n=1)
"""

from __future__ import annotations

import statistics
from functools import cache
from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from execlab.experiments.analyse.rows import value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from execlab.experiments.analyse.rows import Row

LEVEL = 0.95
T = TypeVar("T")


@cache
def student(level: float, freedom: int) -> float:
    """How many standard errors an interval of Student's t reaches to each side.

    >>> round(student(0.95, 2), 3), round(student(0.95, 1000), 2)
    (4.303, 1.96)
    """
    from scipy.stats import t  # slow to import, so only where an interval is computed

    return float(t.ppf((1 + level) / 2, freedom))


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


def mean(values: Sequence[float], level: float = LEVEL) -> Mean:
    """The mean and its interval."""
    n, middle = len(values), statistics.fmean(values)
    if n < 2:
        return Mean(middle, middle, middle, n)
    half = student(level, n - 1) * statistics.stdev(values) / sqrt(n)
    return Mean(middle, middle - half, middle + half, n)


def grouped(rows: Iterable[T], key: Callable[[T], Any]) -> dict[Any, list[T]]:
    """Rows by key, in their order."""
    groups: dict[Any, list[T]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


class Setting(NamedTuple):
    """What must be equal for two strategies to be compared, and for two seeds to be averaged."""

    length: int
    nesting: int
    modification: str
    budget: str
    scrambled: bool
    order: str

    @property
    def special(self) -> str:
        """Everything except the difficulty, in words; empty for the plain setting."""
        words = [self.modification, "short" * (self.budget == "short"), "scrambled" * self.scrambled]
        return ", ".join(word for word in (*words, "nesting first" * (self.order == "nesting_first")) if word)

    def __str__(self) -> str:
        hard = f"length {self.length}" + (f" nesting {self.nesting}" if self.nesting > 1 else "")
        return f"{hard} {self.special}".strip()


def setting_of(row: Row) -> Setting:
    """The setting of a row."""
    return Setting(*(value(row, name) for name in Setting._fields))


def _place(row: Row, by: str) -> Any:
    """All that two runs to be compared have in common but their seed."""
    where = setting_of(row)
    common = tuple(value for name, value in zip(Setting._fields, where, strict=True) if name != by)
    return where if by == "strategy" else (*common, row.strategy)


def places(rows: Iterable[Row], by: str) -> list[Any]:
    """Where runs could be compared that differ in one column: the strategy, or a part of a setting."""
    return list(dict.fromkeys(_place(row, by) for row in rows))


def _gaps(rows: Iterable[Row], by: str, better: Any, worse: Any, column: str) -> dict[Any, dict[int, float]]:
    """Per place `better` minus `worse` for every seed that has both."""
    gaps = {}
    for where, lines in grouped(rows, lambda row: _place(row, by)).items():
        values = {(value(row, by), row.seed): value(row, column) for row in lines}
        seeds = sorted({seed for kind, seed in values if kind == better and (worse, seed) in values})
        if seeds:
            gaps[where] = {seed: values[better, seed] - values[worse, seed] for seed in seeds}
    return gaps


def difference(rows: Iterable[Row], better: str, worse: str, column: str, level: float = LEVEL) -> dict[Any, Mean]:
    """Per setting the mean of one strategy minus another, seed by seed."""
    gaps = _gaps(rows, "strategy", better, worse, column)
    return {where: mean(list(by_seed.values()), level) for where, by_seed in gaps.items()}


def average(rows: Sequence[Row], by: str, better: Any, worse: Any, column: str) -> Mean | None:
    """Over seeds, of the mean over all places of a seed: runs of one seed are not independent.

    None with fewer than two seeds that are complete: one that lacks a run would be another mean.
    """
    gaps, whole = list(_gaps(rows, by, better, worse, column).values()), len(places(rows, by))
    seeds = sorted({seed for by_seed in gaps for seed in by_seed})
    by_place = [[by_seed[seed] for by_seed in gaps if seed in by_seed] for seed in seeds]
    complete = [statistics.fmean(values) for values in by_place if len(values) == whole]
    return mean(complete) if len(complete) > 1 else None
