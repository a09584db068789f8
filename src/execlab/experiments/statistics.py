"""Is the accuracy learned or guessed? The majority baseline beside the model, and the model on scrambled characters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execlab.experiments import programs
from execlab.experiments.analyse.claims import NoDifference, bias_is_far_below
from execlab.experiments.analyse.summary import mean
from execlab.experiments.experiment import Drawing, Experiment, Planned, Settings, cross
from execlab.training.curves import COLOURS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from execlab.experiments.analyse.rows import Row

STRATEGIES = ("combined",)
SETTINGS: dict[str, Settings] = {
    "smoke": {(2, 1): 40_000},
    "laptop": {(2, 1): programs.SETTINGS["laptop"][2, 1]},
    "paper": {(4, 1): 0},
}


def grid(scale: str, seeds: int) -> list[Planned]:
    """One setting, plain and with scrambled characters."""
    variants: dict[str, dict[str, int]] = {"": {}, "scrambled": {"scramble": 1}}
    return cross(scale, seeds, STRATEGIES, SETTINGS[scale], variants, task="program")


def bars(figure: Figure, rows: Sequence[Row]) -> None:
    """What the majority baseline gets right beside what the model gets right, plain and scrambled."""
    axes = figure.subplots()
    plain = [row for row in rows if not row.scrambled]
    scrambled = [row for row in rows if row.scrambled]
    heights = {
        "chance": [100 * row.chance for row in plain],
        "most frequent\ncharacter": [100 * row.most_frequent_character for row in plain],
        "model": [100 * row.teacher_forced_accuracy for row in plain],
        "model, characters\nscrambled": [100 * row.teacher_forced_accuracy for row in scrambled],
    }
    means = {name: mean(values) for name, values in heights.items() if values}
    axes.bar(
        list(means),
        [over_seeds.value for over_seeds in means.values()],
        yerr=[over_seeds.half for over_seeds in means.values()],
        color=COLOURS[: len(means)],
        edgecolor="black",
        hatch=["", "//", "..", "xx"][: len(means)],
        capsize=4,
    )
    axes.set(ylabel="characters right, %", ylim=(0, 103))


EXPERIMENT = Experiment(
    name="statistics",
    strategies=STRATEGIES,
    grid=grid,
    figures={"statistics": Drawing(bars, (6, 4))},
    claims=(
        NoDifference("scrambling the characters changes nothing", "scrambled", {"scrambled": True, "plain": False}),
        bias_is_far_below,
    ),
)
