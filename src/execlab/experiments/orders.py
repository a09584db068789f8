"""The climb of the naive strategy: length first, or nesting first (a remark of the paper)."""

from __future__ import annotations

from execlab.experiments import programs
from execlab.experiments.analyse.claims import NoDifference
from execlab.experiments.experiment import Experiment, Planned, Settings, cross

STRATEGIES = ("naive",)
SETTINGS: dict[str, Settings] = {
    "smoke": {(2, 2): 40_000},
    "laptop": {(2, 2): programs.SETTINGS["laptop"][2, 2]},
    "paper": {(4, 2): 0},
}


def grid(scale: str, seeds: int) -> list[Planned]:
    """One setting in both orders."""
    variants: dict[str, dict[str, str]] = {"length first": {}, "nesting first": {"order": "nesting_first"}}
    return cross(scale, seeds, STRATEGIES, SETTINGS[scale], variants, task="program")


EXPERIMENT = Experiment(
    name="orders",
    strategies=STRATEGIES,
    grid=grid,
    claims=(
        NoDifference(
            "climbing by nesting first instead of length first makes no noticeable difference",
            "order",
            {"nesting first": "nesting_first", "length first": "length_first"},
        ),
    ),
)
