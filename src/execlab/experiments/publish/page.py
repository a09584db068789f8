"""report.html: one page that carries everything with it, made from recorded results alone.

The template engine escapes whatever the results hold; only the figures, drawn a moment ago, go in as they are.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined, TemplateError
from markupsafe import Markup

from execlab.data.splits import DATA_VERSION
from execlab.errors import ExeclabError
from execlab.evaluation.scores import SCORING
from execlab.experiments.analyse.claims import RULE
from execlab.experiments.analyse.judge import judge
from execlab.experiments.analyse.planned import planned_runs
from execlab.experiments.analyse.rows import ACCURACIES, read_json, read_rows, value
from execlab.experiments.analyse.summary import grouped, mean, setting_of
from execlab.experiments.publish.figures import draw
from execlab.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from execlab.experiments.analyse.rows import Row

HEADS = (
    *("experiment", "length", "nesting", "", "strategy", "seeds"),
    *("teacher-forced %", "free-running %", "exact match %", "characters"),
)


class Figure(NamedTuple):
    """A figure on the page."""

    name: str
    caption: str
    svg: Markup


def write_page(folder: Path) -> Path:
    """Figures and page of a folder of results."""
    rows = read_rows(folder)
    grid = _object(folder / "grid.json")
    drawn = draw(rows, folder) if rows else {}
    values = {
        "title": _title(rows),
        "rows": rows,
        "experiments": ", ".join(sorted({row.experiment for row in rows})),
        "characters": sum(row.characters for row in rows),
        "hours": sum(row.seconds for row in rows) / 3600,
        "planned": len(grid),
        "missing": sorted(set(grid) - {row.run for row in rows}),  # whoever reads the verdicts must know
        "claims": judge(rows, planned_runs(folder, rows)),
        "rule": RULE,
        "figures": [Figure(name, caption, _inline(svg)) for name, (caption, svg) in drawn.items()],
        "older_data": sum(row.data_version < DATA_VERSION for row in rows),
        "scoring_before": sum(row.scoring < SCORING for row in rows),
        "heads": HEADS,
        "table": _table(rows),
        "examples": read_json(folder / "examples.json", []),
        "commits": ", ".join(sorted({str(row.commit) for row in rows})),
        "versions": _versions(rows),
        "shared": _shared(grid),
    }
    loader = PackageLoader("execlab.experiments.publish", ".")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined)
    try:
        text = environment.get_template("report.html.j2").render(values)
    except (TemplateError, TypeError) as error:
        raise ExeclabError(f"{folder / 'examples.json'} has another shape than execlab writes: {error}") from None
    path = folder / "report.html"
    write_atomically(path, text.encode(errors="replace"), root=folder)
    return path


def _inline(svg: bytes) -> Markup:
    text = svg.decode()
    return Markup(text[text.index("<svg") :])  # noqa: S704 - drawn by us; matplotlib escapes its texts


def _title(rows: Sequence[Row]) -> str:
    names = ", ".join(sorted({row.experiment for row in rows}) + sorted({row.scale for row in rows}))
    return f"{names}: report of execlab" if rows else "report of execlab"


def _object(path: Path) -> dict[str, Any]:
    content = read_json(path, {})
    if not isinstance(content, dict):
        raise ExeclabError(f"{path} has another shape than execlab writes")
    return content


def _table(rows: Sequence[Row]) -> list[list[Any]]:
    table = []
    for (experiment, where, strategy), lines in grouped(
        rows, lambda row: (row.experiment, setting_of(row), row.strategy)
    ).items():
        values: list[Any] = [experiment, where.length, where.nesting, where.special, strategy, len(lines)]
        for name in ACCURACIES:
            over_seeds = mean([100 * value(row, name) for row in lines])
            values.append(f"{over_seeds.value:.1f}" + (f" ± {over_seeds.half:.1f}" if over_seeds.n > 1 else ""))
        values.append(round(sum(row.characters for row in lines) / len(lines)))
        table.append(values)
    return table


def _versions(rows: Sequence[Row]) -> dict[str, str]:
    recorded = [json.loads(row.versions) for row in rows]
    names = dict.fromkeys(name for versions in recorded for name in versions)
    return {name: "; ".join(sorted({str(versions.get(name)) for versions in recorded})) for name in names}


def _shared(grid: dict[str, Any]) -> str:
    configs = [entry for entry in grid.values() if isinstance(entry, dict)]
    if not configs:
        return ""
    names = [name for name in configs[0] if name != "budget"]
    same = {name: configs[0][name] for name in names if all(other.get(name) == configs[0][name] for other in configs)}
    return json.dumps(same, indent=1)
