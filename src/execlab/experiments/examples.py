"""The appendix: one model per setting and strategy, and what it prints for some test programs."""

from __future__ import annotations

from execlab.experiments import programs
from execlab.experiments.experiment import Experiment, Planned, Settings, cross

STRATEGIES = ("baseline", "naive", "mix", "combined")
SETTINGS: dict[str, Settings] = {
    "smoke": {(2, 1): 40_000},
    "laptop": {setting: programs.SETTINGS["laptop"][setting] for setting in ((2, 1), (2, 2))},
    "paper": {(length, nesting): 0 for length in (4, 6) for nesting in (1, 2, 3)},
}


def grid(scale: str, _seeds: int) -> list[Planned]:
    """Setting x strategy, one seed."""
    return cross(scale, 1, STRATEGIES, SETTINGS[scale], task="program")


EXPERIMENT = Experiment(name="examples", strategies=STRATEGIES, grid=grid, prints_examples=True)
