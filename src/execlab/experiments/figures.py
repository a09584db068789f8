"""The paper's figures, drawn from rows alone: readable in grey, for the colour-blind too, intervals over seeds."""

from __future__ import annotations

from itertools import pairwise
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from execlab.experiments.claims import ACCURACY
from execlab.experiments.curves import COLOURS, STYLE, rendered
from execlab.experiments.grids import MODIFICATIONS, PAPER
from execlab.experiments.summary import cell, difference, grouped, mean
from execlab.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    from execlab.experiments.summary import Row

MARKS = dict(
    zip(PAPER, zip(COLOURS, ("o", "s", "^", "D"), (":", "--", "-.", "-"), strict=False), strict=True)
)  # colour, marker, line


def caption(rows: Sequence[Row]) -> str:
    """n, seeds and budget, as every figure must say them."""
    counts = [len(lines) for lines in grouped(rows, lambda line: (cell(line), line["strategy"])).values()]
    seeds = " to ".join(dict.fromkeys(str(end) for end in (min(counts), max(counts))))
    budgets = sorted({line["characters"] for line in rows})
    spread = " to ".join(dict.fromkeys(f"{budget / 1e6:,.2f}" for budget in (budgets[0], budgets[-1])))
    cells = grouped(rows, cell).values()
    even = all(
        max(line["characters"] for line in one) < 1.02 * min(line["characters"] for line in one) for one in cells
    )
    same = ", the same within a cell" if even else ", which differ within a cell"
    intervals = "95 % intervals over seeds" if max(counts) > 1 else "no intervals: one seed"
    by = grouped(rows, lambda line: line["precision"])
    products = "".join(
        f", products in {precision}"
        + (f" ({'; '.join(str(one) for one in grouped(lines, cell))})" if len(by) > 1 else "")
        for precision, lines in by.items()
        if precision != "float32"  # which goes without saying
    )
    return (
        f"Test split, n = {rows[0]['n']:,} samples per run, {seeds} seed{'s' * (max(counts) > 1)}, {intervals}; "
        f"{spread} million characters per run{same}; scale {rows[0]['scale']}{products}."
    )


def millions(characters: int) -> str:
    """A budget without its unit: one digit, two of a small one."""
    return f"{characters / 1e6:.{1 if characters >= 1e5 else 2}f}"


def _budgets(rows: Sequence[Row], key: Callable[[Row], Any]) -> dict[Any, str]:
    """Characters per run, in millions, by place in a figure."""
    by = grouped(rows, key)
    return {where: f"{millions(max(line['characters'] for line in found))} M" for where, found in by.items()}


def _strategies(axes: Axes, rows: Sequence[Row], place: Callable[[Row], float], joined: bool = True) -> None:
    """Means with intervals, side by side so that none hides another, and every seed as a faint point."""
    places = sorted({place(line) for line in rows})
    aside = (0.04 if joined else 0.15) * min((b - a for a, b in pairwise(places)), default=1)
    for number, (strategy, (colour, marker, dash)) in enumerate(MARKS.items()):
        lines = [line for line in rows if line["strategy"] == strategy]
        points = sorted(grouped(lines, place).items())
        means = [mean([100 * line[ACCURACY] for line in found]) for _, found in points]
        moved = (number - (len(MARKS) - 1) / 2) * aside
        if points:
            axes.errorbar(
                [where + moved for where, _ in points],
                [found.value for found in means],
                yerr=[
                    [found.value - max(found.low, 0.0) for found in means],
                    [min(found.high, 100.0) - found.value for found in means],
                ],
                color=colour,
                marker=marker,
                linestyle=dash if joined else "",
                capsize=3,
                label=strategy,
            )
        axes.plot(
            [place(line) + moved for line in lines],
            [100 * line[ACCURACY] for line in lines],
            color=colour,
            marker=".",
            linestyle="",
            alpha=0.35,
        )
    axes.set(ylim=(0, 103))
    axes.grid(alpha=0.3)


def _by_length(axes: Axes, rows: Sequence[Row], title: str) -> None:
    _strategies(axes, rows, lambda line: float(line["length"]))
    budgets = _budgets(rows, lambda line: line["length"])
    axes.set(title=title, xlabel="length, and characters per run")
    axes.set_xticks(sorted(budgets), [f"{length}\n{budgets[length]}" for length in sorted(budgets)])


def addition(rows: Sequence[Row]) -> Figure:
    """Accuracy by length for the four strategies."""
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    _by_length(axes, rows, "Addition")
    axes.set_ylabel("teacher-forced accuracy, %")
    axes.legend(frameon=False)
    return figure


def memorization(rows: Sequence[Row]) -> Figure:
    """Accuracy by length, a panel per modification."""
    figure = Figure(figsize=(9, 7), layout="constrained")
    panels = figure.subplots(2, 2, sharex=True, sharey=True).flat
    by = grouped(rows, lambda line: line["modification"])
    for axes, name in zip(panels, MODIFICATIONS, strict=True):
        _by_length(axes, by.get(name, []), name)
    panels[0].set_ylabel("teacher-forced accuracy, %")
    panels[2].set_ylabel("teacher-forced accuracy, %")
    handles, labels = next(
        (a.get_legend_handles_labels() for a in panels if a.get_legend_handles_labels()[0]), ([], [])
    )
    figure.legend(handles, labels, frameon=False, ncols=4, loc="outside upper center")
    return figure


def _heat(
    axes: Axes,
    values: dict[tuple[int, int], tuple[float, float]],
    budgets: dict[tuple[int, int], str],
    title: str,
    **colours: Any,
) -> Any:
    lengths, nestings = sorted({length for length, _ in values}), sorted({nesting for _, nesting in values})
    table = np.full((len(nestings), len(lengths)), np.nan)
    for (length, nesting), (value, _) in values.items():
        table[nestings.index(nesting), lengths.index(length)] = value
    image = axes.imshow(table, aspect="auto", origin="lower", **colours)
    low, high = colours["vmin"], colours["vmax"]
    for (length, nesting), (value, half) in values.items():
        dark = abs((value - low) / (high - low) - 0.5) > 0.3 if low < 0 else (value - low) / (high - low) < 0.55
        text = f"{value:.1f}" if low >= 0 else f"{value:+.1f}"
        axes.text(
            lengths.index(length),
            nestings.index(nesting),
            text + (f"\n± {half:.1f}" if half else "") + f"\n{budgets[length, nesting]}",
            ha="center",
            va="center",
            color="white" if dark else "black",
            fontsize=8,
        )
    axes.set(title=title, xlabel="length", ylabel="nesting")
    axes.set_xticks(range(len(lengths)), [str(length) for length in lengths])
    axes.set_yticks(range(len(nestings)), [str(nesting) for nesting in nestings])
    return image


def _difficulty(line: Row) -> tuple[int, int]:
    return line["length"], line["nesting"]


def programs(rows: Sequence[Row]) -> Figure:
    """The four strategies, cell by cell."""
    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.subplots()
    budgets = _budgets(rows, _difficulty)
    places = {where: float(place) for place, where in enumerate(sorted(budgets))}
    _strategies(axes, rows, lambda line: places[_difficulty(line)], joined=False)
    axes.set_xticks(
        list(places.values()), [f"length {where[0]}\nnesting {where[1]}\n{budgets[where]}" for where in places]
    )
    axes.set(title="Programs", xlabel="cell, and characters per run", ylabel="teacher-forced accuracy, %")
    axes.legend(frameon=False, ncols=4, loc="lower center")
    return figure


def absolute(rows: Sequence[Row]) -> Figure:
    """Accuracy of baseline and combined on programs."""
    figure = Figure(figsize=(8, 3.6), layout="constrained")
    panels, image = figure.subplots(1, 2), None
    for axes, strategy in zip(panels, ("baseline", "combined"), strict=True):
        by = grouped((line for line in rows if line["strategy"] == strategy), _difficulty)
        means = {where: mean([100 * line[ACCURACY] for line in found]) for where, found in by.items()}
        values = {where: (found.value, found.half) for where, found in means.items()}
        if values:
            image = _heat(axes, values, _budgets(rows, _difficulty), strategy, cmap="cividis", vmin=0, vmax=100)
    if image:
        figure.colorbar(image, ax=panels, label="teacher-forced accuracy, %")
    return figure


def relative(rows: Sequence[Row]) -> Figure:
    """Naive, mix and combined relative to baseline on programs."""
    figure = Figure(figsize=(11, 3.6), layout="constrained")
    panels, image = figure.subplots(1, 3), None
    for axes, strategy in zip(panels, ("naive", "mix", "combined"), strict=True):
        gaps = difference(rows, strategy, "baseline", ACCURACY)
        values = {where[:2]: (100 * gap.value, 100 * gap.half) for where, gap in gaps.items()}
        if values:
            budgets = _budgets(rows, _difficulty)
            image = _heat(axes, values, budgets, f"{strategy} minus baseline", cmap="PuOr", vmin=-50, vmax=50)
    if image:  # otherwise no strategy has a partner yet
        figure.colorbar(image, ax=panels, label="percentage points")
    return figure


def statistics(rows: Sequence[Row]) -> Figure:
    """What guessing gets right beside what the model gets right, plain and scrambled."""
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    plain = [line for line in rows if not line["scrambled"]]
    scrambled = [line for line in rows if line["scrambled"]]
    bars = {
        "chance": [100 * line["chance"] for line in plain],
        "most frequent\ncharacter": [100 * line["most_frequent_character"] for line in plain],
        "model": [100 * line[ACCURACY] for line in plain],
        "model, characters\nscrambled": [100 * line[ACCURACY] for line in scrambled],
    }
    means = {name: mean(values) for name, values in bars.items() if values}
    axes.bar(
        list(means),
        [found.value for found in means.values()],
        yerr=[found.half for found in means.values()],
        color=COLOURS[: len(means)],
        edgecolor="black",
        hatch=["", "//", "..", "xx"][: len(means)],
        capsize=4,
    )
    axes.set(ylabel="characters right, %", ylim=(0, 103))
    return figure


class Wanted(NamedTuple):
    """A figure: how it is made, and of which rows of its experiment."""

    make: Callable[[Sequence[Row]], Figure]
    has: Callable[[Row], bool] = lambda _: True


FIGURES: dict[str, dict[str, Wanted]] = {
    "programs": {
        "programs": Wanted(programs),
        "programs_absolute": Wanted(absolute, lambda line: line["strategy"] in ("baseline", "combined")),
        "programs_relative": Wanted(relative),
    },
    "addition": {"addition": Wanted(addition)},
    "memorization": {
        "memorization": Wanted(memorization, lambda line: line["budget"] == "full"),
        "memorization_short": Wanted(memorization, lambda line: line["budget"] == "short"),
    },
    "statistics": {"statistics": Wanted(statistics)},
}


def captions(rows: Sequence[Row]) -> dict[str, str]:
    """The figures that the rows are good for, by name, with what must be said below each."""
    found = {}
    for experiment, lines in grouped(rows, lambda line: line["experiment"]).items():
        for name, wanted in FIGURES.get(experiment, {}).items():
            if mine := [line for line in lines if wanted.has(line)]:
                found[name] = caption(mine)
    return found


def draw(rows: Sequence[Row], folder: Path) -> dict[str, tuple[str, bytes]]:
    """Those figures as PNG and SVG below folder/figures, each with its caption in it; gives caption and SVG."""
    said = captions(rows)
    drawn = {}
    with mpl.rc_context({**STYLE, "svg.hashsalt": "execlab", "svg.fonttype": "none"}):
        for experiment, wanted in FIGURES.items():
            for name in wanted.keys() & said.keys():
                mine = [line for line in rows if line["experiment"] == experiment and wanted[name].has(line)]
                figure = wanted[name].make(mine)
                width = int(figure.get_figwidth() * 18)
                figure.supxlabel("\n".join(wrap(said[name], width)), fontsize=7, color="0.3")
                for ending in ("png", "svg"):
                    picture = rendered(figure, ending)
                    write_atomically(folder / "figures" / f"{name}.{ending}", picture, root=folder)
                drawn[name] = said[name], picture
    return {name: drawn[name] for name in said}
