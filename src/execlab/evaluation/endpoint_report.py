"""The report of a language model's map: a page with a coloured table, JSON, and a figure if matplotlib is there."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Any

from execlab.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from execlab.evaluation.endpoint_map import Plan
    from execlab.evaluation.scores import Score
    from execlab.tasks import Difficulty

STYLE = """body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b1b1b}
table{border-collapse:collapse}td,th{padding:.5rem .8rem;text-align:center}td small{display:block;opacity:.8}"""


def write_report(plan: Plan, cells: Mapping[Difficulty, Score], folder: Path, asked: Mapping[str, Any]) -> list[Path]:
    """Write report.json and report.html, and the figure if it can be drawn; gives the paths."""
    rows = [{**difficulty._asdict(), "exact_match": score._asdict()} for difficulty, score in cells.items()]
    about = {"model": plan.model, "task": plan.task, "split": plan.split, "seed": plan.seed, "form": plan.form}
    report = {**about, "prompt_version": plan.prompt_version, "data_version": plan.data_version, **asked, "map": rows}
    paths = [folder / "report.json", folder / "report.html"]
    write_atomically(paths[0], (json.dumps(report, indent=2) + "\n").encode(), root=folder)
    write_atomically(paths[1], page(plan, cells, asked).encode(), root=folder)
    return [*paths, *draw(plan, cells, folder)]


def page(plan: Plan, cells: Mapping[Difficulty, Score], asked: Mapping[str, Any]) -> str:
    """One file without anything from elsewhere."""
    head = "".join(f"<th>{length}</th>" for length in plan.lengths)
    body = ""
    for nesting in plan.nestings:
        shown = ""
        for length in plan.lengths:
            score = next((cells[each] for each in cells if each == (length, nesting)), None)
            shown += "<td></td>" if score is None else _cell(score)
        body += f"<tr><th>{nesting}</th>{shown}</tr>\n"
    title = f"{plan.model} on {plan.task}"
    counted = ", ".join(f"{name.replace('_', ' ')} {value:,}" for name, value in asked.items())
    return f"""<!doctype html>
<html lang="en"><meta charset="utf-8"><title>{escape(title)}</title><style>{STYLE}</style>
<h1>{escape(title)}</h1>
<p>Share of exactly right answers by length (columns) and nesting (rows), with 95 % intervals.
{escape(plan.split)} split, seed {plan.seed}, prompts of the form {escape(plan.form)}, version {plan.prompt_version};
{escape(counted)}.</p>
<table><tr><th>nesting / length</th>{head}</tr>
{body}</table>
<p>A reply counts only if it commits itself to one integer and that is the output of the program.</p>
</html>
"""


def _cell(score: Score) -> str:
    light = 92 - 55 * score.value
    ink = "#fff" if light < 55 else "#1b1b1b"
    interval = f"{score.low:.0%} to {score.high:.0%}, n={score.n:,}"
    colour = f"background:hsl(212 60% {light:.0f}%);color:{ink}"
    return f'<td style="{colour}">{score.value:.1%}<small>{interval}</small></td>'


def draw(plan: Plan, cells: Mapping[Difficulty, Score], folder: Path) -> list[Path]:
    """The map as a figure; nothing where matplotlib is missing."""
    try:
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure
    except ImportError:
        return []
    figure = Figure(figsize=(1.6 + 0.9 * len(plan.lengths), 1.6 + 0.7 * len(plan.nestings)), layout="constrained")
    FigureCanvasSVG(figure)
    axes = figure.add_subplot()
    values = [[_value(cells, length, nesting) for length in plan.lengths] for nesting in plan.nestings]
    image = axes.imshow(values, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    for y, row in enumerate(values):
        for x, value in enumerate(row):
            if value == value:  # not nan
                axes.text(x, y, f"{value:.0%}", ha="center", va="center", color="white" if value > 0.6 else "black")
    axes.set_xticks(range(len(plan.lengths)), [str(length) for length in plan.lengths])
    axes.set_yticks(range(len(plan.nestings)), [str(nesting) for nesting in plan.nestings])
    axes.set_xlabel("length")
    axes.set_ylabel("nesting")
    axes.set_title(f"{plan.model[:60]}: exact match on {plan.task}".replace("$", r"\$"))
    figure.colorbar(image, ax=axes, format=lambda share, _: f"{share:.0%}")
    path = folder / "map.svg"
    figure.savefig(path, metadata={"Date": None})
    return [path]


def _value(cells: Mapping[Difficulty, Score], length: int, nesting: int) -> float:
    return next((score.value for each, score in cells.items() if each == (length, nesting)), float("nan"))
