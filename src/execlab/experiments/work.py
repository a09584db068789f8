"""Shown work and mastery: does a network execute programs better if it prints its intermediate results first, and if it
stays on a stair until it is mastered? Each alone and both together, with the same number of characters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from execlab.experiments.analyse.claims import BestModification, Comparison
from execlab.experiments.analyse.summary import grouped, mean
from execlab.experiments.experiment import Drawing, Experiment, Planned, Settings, cross
from execlab.training.curves import COLOURS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from execlab.experiments.analyse.rows import Row

STRATEGIES = ("mix", "combined", "mastery")
CLIMBS: dict[str, dict[str, Any]] = {  # a climb that starts where there are enough programs to learn from
    "mix": {},
    "combined": {"start": 2, "patience": 20},
    "mastery": {"start": 2},
}
WORKS = {"direct": {}, "work": {"work": "columns"}}
SETTINGS: dict[str, Settings] = {
    "smoke": {(2, 2): 60_000},
    "laptop": {(3, 2): 12_000_000},
    "paper": {(4, 3): 0},
}
ANSWERS = "exact_match"  # of the answer alone; characters of work and of an answer cannot be compared


def grid(scale: str, seeds: int) -> list[Planned]:
    """Both kinds of target with every strategy."""
    return [
        planned
        for strategy in STRATEGIES
        for planned in cross(scale, seeds, (strategy,), SETTINGS[scale], WORKS, task="program", **CLIMBS[strategy])
    ]


def answers(figure: Figure, rows: Sequence[Row]) -> None:
    """Right answers by strategy, with the work shown and without."""
    axes = figure.subplots()
    for number, (kind, lines) in enumerate(grouped(rows, lambda row: row.modification or "direct").items()):
        aside = 0.2 * (number - 0.5)
        for strategy, of_seeds in grouped(lines, lambda row: row.strategy).items():
            place, over_seeds = STRATEGIES.index(strategy) + aside, mean([100 * row.exact_match for row in of_seeds])
            down, up = over_seeds.value - max(over_seeds.low, 0), min(over_seeds.high, 100) - over_seeds.value
            style: dict[str, Any] = {"color": COLOURS[number], "marker": "oD"[number], "capsize": 3}
            axes.errorbar([place], [over_seeds.value], yerr=[[down], [up]], label=kind, **style)
            axes.plot([place] * len(of_seeds), [100 * row.exact_match for row in of_seeds], "k.", alpha=0.4)
    axes.set_xticks(range(len(STRATEGIES)), STRATEGIES)
    axes.set(ylim=(0, 103), ylabel="right answers, free-running, %")
    handles = dict(zip(*axes.get_legend_handles_labels()[::-1], strict=True))
    axes.legend(handles.values(), handles.keys(), frameon=False)


EXPERIMENT = Experiment(
    name="work",
    strategies=STRATEGIES,
    grid=grid,
    figures={"work": Drawing(answers, (6, 4))},
    claims=(
        BestModification("showing the work gives more right answers", "work columns", ("",), ANSWERS),
        *(
            Comparison(f"mastery gives more right answers than {other}", "mastery", other, "everywhere", ANSWERS)
            for other in ("mix", "combined")
        ),
    ),
)
