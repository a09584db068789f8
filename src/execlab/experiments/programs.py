"""Programs: length x nesting x strategy (the paper's section 5 and its figures of prediction accuracy)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execlab.experiments.analyse.claims import ACCURACY, Comparison, free_running_is_lower
from execlab.experiments.analyse.summary import difference, grouped, mean
from execlab.experiments.experiment import MILLION, Drawing, Experiment, Planned, Settings, cross
from execlab.experiments.publish.drawing import budgets, difficulty, heat_map, strategies

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from execlab.experiments.analyse.rows import Row

STRATEGIES = ("baseline", "naive", "mix", "combined")
OTHERS = ("baseline", "naive", "mix")
# paper: the axes of its figures are not in the text; its appendix shows lengths 4 and 6, nestings 1 to 3.
PAPER = [(length, nesting) for nesting in (1, 2, 3, 4) for length in (2, 4, 6, 8)]
SETTINGS: dict[str, Settings] = {
    "smoke": {(2, 1): 40_000, (1, 2): 40_000},
    "laptop": {
        (1, 2): 9_640_000,
        (2, 1): 13_720_000,
        (2, 2): 12 * MILLION,  # too short for 90 %
        (4, 3): 6 * MILLION,  # deliberately too hard
        (1, 3): 16_880_000,  # (3, 1) would need 28.9 M: half as much again as all the others together
    },
    "paper": dict.fromkeys(PAPER, 0),
}


def grid(scale: str, seeds: int) -> list[Planned]:
    """Length x nesting x strategy."""
    return cross(scale, seeds, STRATEGIES, SETTINGS[scale], task="program")


def side_by_side(figure: Figure, rows: Sequence[Row]) -> None:
    """The four strategies, setting by setting."""
    axes = figure.subplots()
    characters = budgets(rows, difficulty)
    places = {where: float(place) for place, where in enumerate(sorted(characters))}
    strategies(axes, rows, lambda row: places[difficulty(row)], joined=False)
    axes.set_xticks(
        list(places.values()), [f"length {where[0]}\nnesting {where[1]}\n{characters[where]}" for where in places]
    )
    axes.set(title="Programs", xlabel="cell, and characters per run", ylabel="teacher-forced accuracy, %")
    axes.legend(frameon=False, ncols=4, loc="lower center")


def absolute(figure: Figure, rows: Sequence[Row]) -> None:
    """Accuracy of baseline and combined."""
    panels, image = figure.subplots(1, 2), None
    for axes, strategy in zip(panels, ("baseline", "combined"), strict=True):
        by = grouped((row for row in rows if row.strategy == strategy), difficulty)
        means = {where: mean([100 * row.teacher_forced_accuracy for row in lines]) for where, lines in by.items()}
        values = {where: (over_seeds.value, over_seeds.half) for where, over_seeds in means.items()}
        if values:
            image = heat_map(axes, values, budgets(rows, difficulty), strategy, cmap="cividis", vmin=0, vmax=100)
    if image:
        figure.colorbar(image, ax=panels, label="teacher-forced accuracy, %")


def relative(figure: Figure, rows: Sequence[Row]) -> None:
    """Naive, mix and combined relative to baseline."""
    panels, image = figure.subplots(1, 3), None
    for axes, strategy in zip(panels, ("naive", "mix", "combined"), strict=True):
        gaps = difference(rows, strategy, "baseline", ACCURACY)
        values = {where[:2]: (100 * gap.value, 100 * gap.half) for where, gap in gaps.items()}
        if values:
            characters = budgets(rows, difficulty)
            image = heat_map(axes, values, characters, f"{strategy} minus baseline", cmap="PuOr", vmin=-50, vmax=50)
    if image:  # otherwise no strategy has a partner yet
        figure.colorbar(image, ax=panels, label="percentage points")


EXPERIMENT = Experiment(
    name="programs",
    strategies=STRATEGIES,
    grid=grid,
    figures={
        "programs": Drawing(side_by_side, (8, 4)),
        "programs_absolute": Drawing(absolute, (8, 3.6), lambda row: row.strategy in ("baseline", "combined")),
        "programs_relative": Drawing(relative, (11, 3.6)),
    },
    claims=(
        *(Comparison(f"combined is above {other} in every program cell", "combined", other) for other in OTHERS),
        *(
            Comparison(f"combined is generally above {other} on programs", "combined", other, "generally")
            for other in OTHERS
        ),
        Comparison("naive is sometimes below baseline on programs", "baseline", "naive", "somewhere"),
        free_running_is_lower,
    ),
    prints_examples=True,
)
