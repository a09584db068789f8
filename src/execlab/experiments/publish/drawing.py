"""Parts that several figures share: readable in grey, and with colour blindness; intervals are over seeds.

They draw on the axes they are given, so that nothing here imports matplotlib.
"""

from __future__ import annotations

from itertools import pairwise
from math import nan
from typing import TYPE_CHECKING, Any

from execlab.experiments.analyse.summary import grouped, mean
from execlab.training.curves import COLOURS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes

    from execlab.experiments.analyse.rows import Row

MARKS = {  # colour, marker, line: the paper's strategies and no others, so that old figures stay as they are
    "baseline": (COLOURS[0], "o", ":"),
    "naive": (COLOURS[1], "s", "--"),
    "mix": (COLOURS[2], "^", "-."),
    "combined": (COLOURS[3], "D", "-"),
}


def millions(characters: int) -> str:
    """A budget without its unit: one digit, two of a small one."""
    return f"{characters / 1e6:.{1 if characters >= 1e5 else 2}f}"


def budgets(rows: Sequence[Row], key: Callable[[Row], Any]) -> dict[Any, str]:
    """Characters per run, in millions, by place in a figure."""
    by = grouped(rows, key)
    return {where: f"{millions(max(row.characters for row in alike))} M" for where, alike in by.items()}


def strategies(axes: Axes, rows: Sequence[Row], place: Callable[[Row], float], joined: bool = True) -> None:
    """Means with intervals, side by side so that none hides another, and every seed as a faint point."""
    places = sorted({place(row) for row in rows})
    aside = (0.04 if joined else 0.15) * min((b - a for a, b in pairwise(places)), default=1)
    for number, (strategy, (colour, marker, dash)) in enumerate(MARKS.items()):
        lines = [row for row in rows if row.strategy == strategy]
        points = sorted(grouped(lines, place).items())
        means = [mean([100 * row.teacher_forced_accuracy for row in over_seeds]) for _, over_seeds in points]
        moved = (number - (len(MARKS) - 1) / 2) * aside
        if points:
            axes.errorbar(
                [where + moved for where, _ in points],
                [over_seeds.value for over_seeds in means],
                yerr=[
                    [over_seeds.value - max(over_seeds.low, 0.0) for over_seeds in means],
                    [min(over_seeds.high, 100.0) - over_seeds.value for over_seeds in means],
                ],
                color=colour,
                marker=marker,
                linestyle=dash if joined else "",
                capsize=3,
                label=strategy,
            )
        axes.plot(
            [place(row) + moved for row in lines],
            [100 * row.teacher_forced_accuracy for row in lines],
            color=colour,
            marker=".",
            linestyle="",
            alpha=0.35,
        )
    axes.set(ylim=(0, 103))
    axes.grid(alpha=0.3)


def by_length(axes: Axes, rows: Sequence[Row], title: str) -> None:
    strategies(axes, rows, lambda row: float(row.length))
    characters = budgets(rows, lambda row: row.length)
    axes.set(title=title, xlabel="length, and characters per run")
    axes.set_xticks(sorted(characters), [f"{length}\n{characters[length]}" for length in sorted(characters)])


def heat_map(
    axes: Axes,
    values: dict[tuple[int, int], tuple[float, float]],
    characters: dict[tuple[int, int], str],
    title: str,
    **colours: Any,
) -> Any:
    lengths, nestings = sorted({length for length, _ in values}), sorted({nesting for _, nesting in values})
    table = [[nan] * len(lengths) for _ in nestings]
    for (length, nesting), (value, _) in values.items():
        table[nestings.index(nesting)][lengths.index(length)] = value
    image = axes.imshow(table, aspect="auto", origin="lower", **colours)
    low, high = colours["vmin"], colours["vmax"]
    for (length, nesting), (value, half) in values.items():
        dark = abs((value - low) / (high - low) - 0.5) > 0.3 if low < 0 else (value - low) / (high - low) < 0.55
        text = f"{value:.1f}" if low >= 0 else f"{value:+.1f}"
        axes.text(
            lengths.index(length),
            nestings.index(nesting),
            text + (f"\n± {half:.1f}" if half else "") + f"\n{characters[length, nesting]}",
            ha="center",
            va="center",
            color="white" if dark else "black",
            fontsize=8,
        )
    axes.set(title=title, xlabel="length", ylabel="nesting")
    axes.set_xticks(range(len(lengths)), [str(length) for length in lengths])
    axes.set_yticks(range(len(nestings)), [str(nesting) for nesting in nestings])
    return image


def difficulty(row: Row) -> tuple[int, int]:
    return row.length, row.nesting
