"""Addition: length x strategy (the paper's figure of addition accuracy)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execlab.experiments.analyse.claims import Comparison
from execlab.experiments.experiment import Drawing, Experiment, Planned, Settings, cross
from execlab.experiments.publish.drawing import by_length

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from execlab.experiments.analyse.rows import Row

STRATEGIES = ("baseline", "naive", "mix", "combined")
OTHERS = ("baseline", "naive", "mix")
SETTINGS: dict[str, Settings] = {
    "smoke": {(2, 1): 40_000, (3, 1): 40_000},
    "laptop": {  # 1.5 times what `combined` needed (results/calibration.json)
        (2, 1): 1_120_000,
        (3, 1): 2_310_000,
        (4, 1): 4_150_000,
        (5, 1): 10_760_000,
        (7, 1): 4_150_000,  # deliberately too hard
    },
    "paper": {(length, 1): 0 for length in range(1, 10)},
}


def grid(scale: str, seeds: int) -> list[Planned]:
    """Length x strategy."""
    return cross(scale, seeds, STRATEGIES, SETTINGS[scale], task="addition")


def lengths(figure: Figure, rows: Sequence[Row]) -> None:
    """Accuracy by length for the four strategies."""
    axes = figure.subplots()
    by_length(axes, rows, "Addition")
    axes.set_ylabel("teacher-forced accuracy, %")
    axes.legend(frameon=False)


EXPERIMENT = Experiment(
    name="addition",
    strategies=STRATEGIES,
    grid=grid,
    figures={"addition": Drawing(lengths, (6, 4))},
    claims=(
        *(Comparison(f"combined is above {other} on addition at every length", "combined", other) for other in OTHERS),
        *(
            Comparison(f"combined is generally above {other} on addition", "combined", other, "generally")
            for other in OTHERS
        ),
    ),
)
