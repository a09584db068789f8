"""Memorization: length x modification of the input x strategy (the paper's figures of copying accuracy).

Every setting is run twice: to convergence (the full budget) and for a fixed, smaller number of epochs (the short one).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from execlab.experiments.analyse.claims import BestModification, Comparison
from execlab.experiments.analyse.summary import grouped
from execlab.experiments.experiment import Drawing, Experiment, Planned, Settings, cross
from execlab.experiments.publish.drawing import by_length

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from execlab.experiments.analyse.rows import Row

STRATEGIES = ("baseline", "naive", "mix", "combined")
MIXED_ABOVE = [(better, other) for better in ("mix", "combined") for other in ("baseline", "naive")]
SETTINGS: dict[str, Settings] = {
    "smoke": {(3, 1): 24_000},
    "laptop": {
        (5, 1): 210_000,
        (15, 1): 1_400_000,
        (25, 1): 3_380_000,
        (55, 1): 1_400_000,  # deliberately too hard
    },
    "paper": {(length, 1): 0 for length in range(5, 70, 10)},
}
MODIFICATIONS: dict[str, dict[str, bool]] = {
    "plain": {},
    "inverted": {"invert": True},
    "doubled": {"double": True},
    "doubled and inverted": {"invert": True, "double": True},
}
SHORT = 4  # the full budget divided by this is the short one


def grid(scale: str, seeds: int) -> list[Planned]:
    """Length x modification x strategy, at convergence and after a fixed number of epochs."""
    settings = SETTINGS[scale]
    full: dict[str, dict[str, Any]] = {name: {**options} for name, options in MODIFICATIONS.items()}
    if scale == "smoke":
        fewer = {name: full[name] for name in ("plain", "inverted")}
        return cross(scale, seeds, STRATEGIES, settings, fewer, task="memorization")
    if scale == "paper":
        full = {name: {**options, "epochs": 0} for name, options in full.items()}
        short = {f"{name} short": {**options, "epochs": 20} for name, options in full.items()}
        runs = cross(scale, seeds, STRATEGIES, settings, {**full, **short}, task="memorization")
        return [run._replace(budget="short") if run.config.epochs else run for run in runs]
    short = {f"{name} short": options for name, options in full.items()}
    smaller = {setting: characters // SHORT for setting, characters in settings.items()}
    return [
        *cross(scale, seeds, STRATEGIES, settings, full, task="memorization"),
        *cross(scale, seeds, STRATEGIES, smaller, short, "short", task="memorization"),
    ]


def panels(figure: Figure, rows: Sequence[Row]) -> None:
    """Accuracy by length, a panel per modification."""
    every = figure.subplots(2, 2, sharex=True, sharey=True).flat
    by = grouped(rows, lambda row: row.modification)
    for axes, name in zip(every, MODIFICATIONS, strict=True):
        by_length(axes, by.get(name, []), name)
    every[0].set_ylabel("teacher-forced accuracy, %")
    every[2].set_ylabel("teacher-forced accuracy, %")
    handles, labels = next((a.get_legend_handles_labels() for a in every if a.get_legend_handles_labels()[0]), ([], []))
    figure.legend(handles, labels, frameon=False, ncols=4, loc="outside upper center")


EXPERIMENT = Experiment(
    name="memorization",
    strategies=STRATEGIES,
    grid=grid,
    figures={
        "memorization": Drawing(panels, (9, 7), lambda row: row.budget == "full"),
        "memorization_short": Drawing(panels, (9, 7), lambda row: row.budget == "short"),
    },
    claims=(
        *(
            Comparison(f"{better} is always above {other} on memorization", better, other)
            for better, other in MIXED_ABOVE
        ),
        *(
            Comparison(f"{better} is generally above {other} on memorization", better, other, "generally")
            for better, other in MIXED_ABOVE
        ),
        Comparison("combined is sometimes below mix on memorization", "mix", "combined", "somewhere"),
        BestModification(
            "doubling and inverting the input is best on memorization",
            "doubled and inverted",
            ("plain", "inverted", "doubled"),
        ),
        BestModification("doubling the input improves memorization", "doubled", ("plain",)),
        BestModification("inverting the input improves memorization", "inverted", ("plain",)),
    ),
)
