"""The figures of all experiments, drawn from rows alone, each with its caption."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

from execlab.experiments import known_experiment
from execlab.experiments.analyse.summary import grouped, setting_of
from execlab.files import write_atomically
from execlab.training.curves import STYLE, rendered

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from execlab.experiments.analyse.rows import Row
    from execlab.experiments.experiment import Drawing


def caption(rows: Sequence[Row]) -> str:
    """n, seeds and budget, which every figure must state."""
    counts = [len(lines) for lines in grouped(rows, lambda row: (setting_of(row), row.strategy)).values()]
    seeds = " to ".join(dict.fromkeys(str(end) for end in (min(counts), max(counts))))
    budgets = sorted({row.characters for row in rows})
    spread = " to ".join(dict.fromkeys(f"{budget / 1e6:,.2f}" for budget in (budgets[0], budgets[-1])))
    settings = grouped(rows, setting_of).values()
    even = all(max(row.characters for row in alike) < 1.02 * min(row.characters for row in alike) for alike in settings)
    same = ", the same within a cell" if even else ", which differ within a cell"
    intervals = "95 % intervals over seeds" if max(counts) > 1 else "no intervals: one seed"
    by = grouped(rows, lambda row: row.precision)
    matmuls = "".join(
        f", products in {precision}"
        + (f" ({'; '.join(str(setting) for setting in grouped(lines, setting_of))})" if len(by) > 1 else "")
        for precision, lines in by.items()
        if precision != "float32"  # the default is not mentioned
    )
    return (
        f"Test split, n = {rows[0].n:,} samples per run, {seeds} seed{'s' * (max(counts) > 1)}, {intervals}; "
        f"{spread} million characters per run{same}; scale {rows[0].scale}{matmuls}."
    )


def captions(rows: Sequence[Row]) -> dict[str, str]:
    """The figures that can be drawn from the rows, by name, with the caption of each."""
    texts = {}
    for experiment, lines in grouped(rows, lambda row: row.experiment).items():
        for name, drawing in _drawings(experiment).items():
            if shown := [row for row in lines if drawing.shows(row)]:
                texts[name] = caption(shown)
    return texts


def draw(rows: Sequence[Row], folder: Path) -> dict[str, tuple[str, bytes]]:
    """Those figures as PNG and SVG below folder/figures, each with its caption in it; gives caption and SVG."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    texts = captions(rows)
    drawn = {}
    with mpl.rc_context({**STYLE, "svg.hashsalt": "execlab", "svg.fonttype": "none"}):
        for experiment, lines in grouped(rows, lambda row: row.experiment).items():
            for name, drawing in _drawings(experiment).items():
                if name not in texts:
                    continue
                figure = Figure(figsize=drawing.size, layout="constrained")
                drawing.make(figure, [row for row in lines if drawing.shows(row)])
                width = int(figure.get_figwidth() * 18)
                figure.supxlabel("\n".join(wrap(texts[name], width)), fontsize=7, color="0.3")
                for ending in ("png", "svg"):
                    picture = rendered(figure, ending)
                    write_atomically(folder / "figures" / f"{name}.{ending}", picture, root=folder)
                drawn[name] = texts[name], picture
    return drawn


def _drawings(experiment: str) -> Mapping[str, Drawing]:
    """The figures of an experiment; none of a name that this version does not know."""
    known = known_experiment(experiment)
    return known.figures if known else {}
