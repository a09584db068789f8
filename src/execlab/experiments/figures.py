"""The paper's figures, drawn from rows alone: readable in grey, for the colour-blind too, intervals over seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from execlab.curriculum import STRATEGIES
from execlab.experiments.claims import ACCURACY
from execlab.experiments.curves import COLOURS, STYLE
from execlab.experiments.grids import MODIFICATIONS
from execlab.experiments.summary import cell, difference, grouped, mean

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    from execlab.experiments.summary import Row

MARKS = dict(
    zip(STRATEGIES, zip(COLOURS, ("o", "s", "^", "D"), (":", "--", "-.", "-"), strict=False), strict=True)
)  # colour, marker, line


def caption(rows: Sequence[Row]) -> str:
    """n, seeds and budget, as every figure must say them."""
    seeds = len({line["seed"] for line in rows})
    budgets = sorted({line["characters"] for line in rows})
    spread = " to ".join(dict.fromkeys(f"{budget / 1e6:,.2f}" for budget in (budgets[0], budgets[-1])))
    cells = grouped(rows, cell).values()
    even = all(
        max(line["characters"] for line in one) < 1.02 * min(line["characters"] for line in one) for one in cells
    )
    same = ", the same within a cell" if even else ", which differ within a cell"
    intervals = "95 % intervals over seeds" if seeds > 1 else "no intervals: one seed"
    return (
        f"Test split, n = {rows[0]['n']:,} samples per run, {seeds} seed{'s' * (seeds > 1)}, {intervals}; "
        f"{spread} million characters per run{same}; scale {rows[0]['scale']}."
    )


def _by_length(axes: Axes, rows: Sequence[Row], title: str) -> None:
    for strategy, lines in grouped(rows, lambda line: line["strategy"]).items():
        colour, marker, dash = MARKS[strategy]
        points = sorted(grouped(lines, lambda line: line["length"]).items())
        means = [mean([100 * line[ACCURACY] for line in found]) for _, found in points]
        axes.errorbar(
            [length for length, _ in points],
            [found.value for found in means],
            yerr=[found.half for found in means],
            color=colour,
            marker=marker,
            linestyle=dash,
            capsize=3,
            label=strategy,
        )
    axes.set(title=title, xlabel="length", ylim=(0, 103))
    axes.set_xticks(sorted({line["length"] for line in rows}))
    axes.grid(alpha=0.3)


def addition(rows: Sequence[Row]) -> dict[str, Figure]:
    """Accuracy by length for the four strategies."""
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    _by_length(axes, rows, "Addition")
    axes.set_ylabel("teacher-forced accuracy, %")
    axes.legend(frameon=False)
    return {"addition": figure}


def memorization(rows: Sequence[Row]) -> dict[str, Figure]:
    """Accuracy by length, a panel per modification; a figure per budget."""
    figures = {}
    for budget, lines in grouped(rows, lambda line: line["budget"]).items():
        figure = Figure(figsize=(9, 7), layout="constrained")
        panels = figure.subplots(2, 2, sharex=True, sharey=True).flat
        by = grouped(lines, lambda line: line["modification"])
        for axes, name in zip(panels, MODIFICATIONS, strict=True):
            _by_length(axes, by.get(name, []), name)
        panels[0].set_ylabel("teacher-forced accuracy, %")
        panels[2].set_ylabel("teacher-forced accuracy, %")
        handles, labels = next(
            (a.get_legend_handles_labels() for a in panels if a.get_legend_handles_labels()[0]), ([], [])
        )
        figure.legend(handles, labels, frameon=False, ncols=4, loc="outside lower center")
        figures["memorization" if budget == "full" else "memorization_short"] = figure
    return figures


def _heat(axes: Axes, values: dict[tuple[int, int], tuple[float, float]], title: str, **colours: Any) -> Any:
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
            text + (f"\n± {half:.1f}" if half else ""),
            ha="center",
            va="center",
            color="white" if dark else "black",
            fontsize=8,
        )
    axes.set(title=title, xlabel="length", ylabel="nesting")
    axes.set_xticks(range(len(lengths)), [str(length) for length in lengths])
    axes.set_yticks(range(len(nestings)), [str(nesting) for nesting in nestings])
    return image


def programs(rows: Sequence[Row]) -> dict[str, Figure]:
    """Absolute accuracy of baseline and combined; naive, mix and combined relative to baseline."""
    absolute = Figure(figsize=(8, 3.6), layout="constrained")
    panels = absolute.subplots(1, 2)
    for axes, strategy in zip(panels, ("baseline", "combined"), strict=True):
        by = grouped(
            (line for line in rows if line["strategy"] == strategy), lambda line: (line["length"], line["nesting"])
        )
        means = {where: mean([100 * line[ACCURACY] for line in found]) for where, found in by.items()}
        values = {where: (found.value, found.half) for where, found in means.items()}
        if values:
            image = _heat(axes, values, strategy, cmap="cividis", vmin=0, vmax=100)
    absolute.colorbar(image, ax=panels, label="teacher-forced accuracy, %")
    relative = Figure(figsize=(11, 3.6), layout="constrained")
    panels = relative.subplots(1, 3)
    for axes, strategy in zip(panels, ("naive", "mix", "combined"), strict=True):
        gaps = difference(rows, strategy, "baseline", ACCURACY)
        values = {where[:2]: (100 * gap.value, 100 * gap.half) for where, gap in gaps.items()}
        if values:
            image = _heat(axes, values, f"{strategy} minus baseline", cmap="PuOr", vmin=-50, vmax=50)
    relative.colorbar(image, ax=panels, label="points")
    return {"programs_absolute": absolute, "programs_relative": relative}


def statistics(rows: Sequence[Row]) -> dict[str, Figure]:
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
    return {"statistics": figure}


FIGURES: dict[str, Callable[[Sequence[Row]], dict[str, Figure]]] = {
    "programs": programs,
    "addition": addition,
    "memorization": memorization,
    "statistics": statistics,
}


def draw(rows: Sequence[Row], folder: Path) -> dict[str, str]:
    """Every figure of the experiments in the rows, as PNG and SVG; gives name and caption of each."""
    folder.mkdir(parents=True, exist_ok=True)
    captions = {}
    with mpl.rc_context({**STYLE, "svg.hashsalt": "execlab", "svg.fonttype": "none"}):
        for experiment, lines in grouped(rows, lambda line: line["experiment"]).items():
            if experiment not in FIGURES:
                continue
            for name, figure in FIGURES[experiment](lines).items():
                for ending in ("png", "svg"):
                    figure.savefig(folder / f"{name}.{ending}", metadata={"Date": None} if ending == "svg" else None)
                captions[name] = caption(lines)
    return captions
