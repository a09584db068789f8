"""The paper's figures, one file each: its grid, its figures and its claims.

run/ executes a grid, analyse/ compares its rows, publish/ draws figures and writes documents.

>>> [planned.name for planned in make_grid("addition", "smoke", seeds=1)][:2]
['addition-2x1-baseline-0', 'addition-2x1-naive-0']
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from execlab.errors import unknown
from execlab.experiments import addition, examples, headline, memorization, orders, programs, statistics, work
from execlab.experiments.experiment import SCALES, SEEDS, Drawing, Experiment, Planned, cross
from execlab.registry import find, is_trusted

if TYPE_CHECKING:
    from execlab.training.config import Precision

EXPERIMENTS: dict[str, Experiment] = {  # claims are listed in this order
    "programs": programs.EXPERIMENT,
    "addition": addition.EXPERIMENT,
    "headline": headline.EXPERIMENT,
    "memorization": memorization.EXPERIMENT,
    "examples": examples.EXPERIMENT,
    "statistics": statistics.EXPERIMENT,
    "orders": orders.EXPERIMENT,
    "work": work.EXPERIMENT,
}


def find_experiment(name: str) -> Experiment:
    """The experiment behind a name or a trusted import path."""
    experiment: Experiment = find("experiment", name, EXPERIMENTS, instance_of=Experiment)
    return experiment


def known_experiment(name: str) -> Experiment | None:
    """The experiment that a row names; None if this version does not know it, or may not import it."""
    return find_experiment(name) if name in EXPERIMENTS or is_trusted(name) else None


def make_grid(experiment: str, scale: str, seeds: int | None = None, precision: Precision = "float32") -> list[Planned]:
    """The runs of an experiment, all with one precision (`auto` is decided per difficulty by run/reproduce.py)."""
    if scale not in SCALES:
        raise unknown("scale", scale, SCALES)
    grid = find_experiment(experiment).grid(scale, SEEDS[scale] if seeds is None else seeds)
    return [planned._replace(config=replace(planned.config, precision=precision)) for planned in grid]


__all__ = [
    "EXPERIMENTS",
    "SCALES",
    "Drawing",
    "Experiment",
    "Planned",
    "cross",
    "find_experiment",
    "known_experiment",
    "make_grid",
]
