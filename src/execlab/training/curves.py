"""Learning curves as pictures, drawn from metrics.jsonl alone. matplotlib is imported only when one is drawn."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

from execlab.errors import printable
from execlab.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from matplotlib.figure import Figure

    from execlab.training.metrics import Metrics

STYLE = {"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "figure.dpi": 130}
COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
)  # for colour blindness too


def learning_curve(runs: Mapping[str, Sequence[Metrics]], path: Path, *, root: Path | None = None) -> None:
    """Accuracy against samples, and the staircase of difficulty under it; with a root, no link leads out of it."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7, 5), layout="constrained")
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1])
        for (name, lines), colour in zip(runs.items(), COLOURS * len(runs), strict=False):
            samples = [line.samples for line in lines]
            goal = [100 * line.goal_teacher_forced_accuracy for line in lines]
            current = [100 * line.current_teacher_forced_accuracy for line in lines]
            above.plot(samples, goal, color=colour, label=f"{printable(name)}, at the goal")
            if current != goal:
                above.plot(
                    samples,
                    current,
                    color=colour,
                    alpha=0.4,
                    linewidth=1,
                    label=f"{printable(name)}, at the current difficulty",
                )
            below.step(samples, [line.length for line in lines], where="pre", color=colour, label="length")
            if max(line.nesting for line in lines) > 1:
                nestings = [line.nesting for line in lines]
                below.step(samples, nestings, where="pre", color=colour, linestyle=":", label="nesting")
        above.set_ylabel("validation accuracy\n(teacher-forced characters, %)")
        above.set_ylim(0, 101)
        above.grid(alpha=0.3)
        above.legend(frameon=False, loc="lower right")
        below.set_ylabel("difficulty")
        below.set_xlabel("training samples")
        below.xaxis.set_major_formatter("{x:,.0f}")
        below.set_ylim(bottom=0)
        below.yaxis.get_major_locator().set_params(integer=True)
        below.legend(frameon=False, loc="lower right")
        write_atomically(path, rendered(figure, path.suffix[1:]), root=root)


def rendered(figure: Figure, kind: str) -> bytes:
    """A figure as a file of a kind (png, svg, pdf), the same bytes every time."""
    buffer = BytesIO()
    figure.savefig(buffer, format=kind, metadata={"Date": None} if kind == "svg" else None)
    return buffer.getvalue()
