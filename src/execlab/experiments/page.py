"""report.html: one page that carries everything with it, made from recorded results alone."""

from __future__ import annotations

import html
import json
from typing import TYPE_CHECKING, Any

from execlab.experiments.claims import RULE, Claim, judge
from execlab.experiments.figures import draw
from execlab.experiments.rows import ACCURACIES, planned_runs, read_json, read_rows
from execlab.experiments.summary import cell, grouped, mean
from execlab.training.checkpoints import write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from execlab.experiments.summary import Row

CSS = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 2.5rem; }
table { border-collapse: collapse; font-size: 0.9rem; display: block; overflow-x: auto; }
th, td { text-align: left; padding: 0.25rem 0.7rem; border-bottom: 1px solid #8884; vertical-align: top; }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
figure { margin: 1.5rem 0; } figure svg { width: 100%; height: auto; background: white; border-radius: 6px; }
figcaption { font-size: 0.85rem; opacity: 0.8; }
pre { white-space: pre-wrap; background: #8881; padding: 0.6rem; border-radius: 6px; }
.seen::before { content: "\\2713  "; }
.not-seen::before { content: "\\2717  "; }
.not-tested::before { content: "?  "; }
"""


def write_page(folder: Path) -> Path:
    """Figures and page of a folder of results."""
    rows = read_rows(folder)
    parts = ["<h1>Learning to Execute, reproduced with execlab</h1>", _head(rows), _missing(folder, rows)]
    captions = draw(rows, folder / "figures") if rows else {}
    parts += [_claims(judge(rows, planned_runs(folder, rows))), "<h2>Figures</h2>" if captions else ""]
    for name, caption in captions.items():
        svg = (folder / "figures" / f"{name}.svg").read_text(encoding="utf-8")
        inline = svg[svg.index("<svg") :]
        parts.append(
            f'<figure role="group" aria-label="{html.escape(name)}">{inline}'
            f"<figcaption>{html.escape(caption)}</figcaption></figure>"
        )
    parts += [_table(rows), _examples(folder), _settings(folder, rows)]
    text = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="icon" href="data:,"><title>{_title(rows)}</title><style>{CSS}</style></head><body>'
        + "\n".join(part for part in parts if part)
        + "</body></html>\n"
    )
    path = folder / "report.html"
    write_atomically(path, text.encode())
    return path


def _title(rows: Sequence[Row]) -> str:
    names = ", ".join(sorted({line["experiment"] for line in rows}) + sorted({line["scale"] for line in rows}))
    return html.escape(f"{names}: report of execlab" if rows else "report of execlab")


def _head(rows: Sequence[Row]) -> str:
    if not rows:
        return "<p>No run has finished yet.</p>"
    experiments = ", ".join(sorted({line["experiment"] for line in rows}))
    hours = sum(line["seconds"] for line in rows) / 3600
    characters = sum(line["characters"] for line in rows)
    return (
        f"<p>{html.escape(experiments)} at scale {html.escape(rows[0]['scale'])}: {len(rows)} runs, "
        f"{characters:,} characters, {hours:,.2f} hours of learning. Accuracies are of the test split, at the goal.</p>"
    )


def _missing(folder: Path, rows: Sequence[Row]) -> str:
    """The planned runs that have no row: whoever reads the verdicts must know."""
    planned = list(read_json(folder / "grid.json", {}))
    missing = sorted(set(planned) - {line["run"] for line in rows})
    if not missing:
        return ""
    said = f"{len(missing)} of {len(planned)} planned runs are missing"
    return f"<details><summary>{said}</summary><p>{html.escape(', '.join(missing))}</p></details>"


def _claims(claims: Sequence[Claim]) -> str:
    if not claims:
        return ""
    rule = "".join(f"<li><b>{html.escape(word)}</b> {html.escape(means)}</li>" for word, means in RULE.items())
    body = "".join(
        f'<tr><td>{html.escape(claim.text)}</td><td class="{claim.verdict.replace(" ", "-")}">{claim.verdict}</td>'
        f"<td>{html.escape(claim.evidence)}</td></tr>"
        for claim in claims
    )
    return (
        f"<h2>The paper's claims</h2><details><summary>How they are judged</summary><ul>{rule}</ul></details>"
        "<table><thead><tr><th>Claim</th><th>Verdict</th><th>Evidence</th>"
        f"</tr></thead><tbody>{body}</tbody></table>"
    )


def _cells(values: Iterable[Any]) -> str:
    return "".join(
        f'<td class="number">{value:,}</td>' if isinstance(value, int) else f"<td>{html.escape(str(value))}</td>"
        for value in values
    )


def _table(rows: Sequence[Row]) -> str:
    body = []
    for (experiment, where, strategy), lines in grouped(
        rows, lambda line: (line["experiment"], cell(line), line["strategy"])
    ).items():
        values: list[Any] = [experiment, where.length, where.nesting, where.special, strategy, len(lines)]
        for name in ACCURACIES:
            found = mean([100 * line[name] for line in lines])
            values.append(f"{found.value:.1f}" + (f" ± {found.half:.1f}" if found.n > 1 else ""))
        values.append(round(sum(line["characters"] for line in lines) / len(lines)))
        body.append(f"<tr>{_cells(values)}</tr>")
    heads = ["experiment", "length", "nesting", "", "strategy", "seeds", "teacher-forced %", "free-running %"]
    heads += ["exact match %", "characters"]
    return (
        "<h2>All cells</h2><p>Means over seeds with 95 % intervals.</p><table><thead><tr>"
        + "".join(f"<th>{head}</th>" for head in heads)
        + f"</tr></thead><tbody>{''.join(body)}</tbody></table>"
    )


def _examples(folder: Path) -> str:
    settings = read_json(folder / "examples.json", [])
    if not settings:
        return ""
    parts = ["<h2>Examples</h2><p>Test samples, with what each strategy's model prints free-running.</p>"]
    for setting in settings:
        parts.append(f"<h3>Length {setting['length']}, nesting {setting['nesting']}</h3>")
        for example in setting["examples"]:
            said = "".join(
                f"<tr><td>{html.escape(strategy)}</td>"
                f'<td class="{"seen" if text == example["target"] else "not-seen"}">{html.escape(text)}</td></tr>'
                for strategy, text in example["predictions"].items()
            )
            parts.append(
                f"<pre>{html.escape(example['input'])}</pre><table><tr><td>target</td>"
                f"<td>{html.escape(example['target'])}</td></tr>{said}</table>"
            )
    return "".join(parts)


def _settings(folder: Path, rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    commits = ", ".join(sorted({str(line["commit"]) for line in rows}))
    said = [json.loads(line["versions"]) for line in rows]
    versions = ""
    for name in dict.fromkeys(name for one in said for name in one):
        values = "; ".join(sorted({str(one.get(name)) for one in said}))
        versions += f"<tr><td>{html.escape(name)}</td><td>{html.escape(values)}</td></tr>"
    shared = ""
    if grid := list(read_json(folder / "grid.json", {}).values()):
        same = {name: value for name, value in grid[0].items() if all(other[name] == value for other in grid)}
        text = html.escape(json.dumps(same, indent=1))
        shared = f"<details><summary>The settings that all runs share</summary><pre>{text}</pre></details>"
    return (
        f"<h2>Settings and machine</h2><table><tbody><tr><td>commit</td><td>{html.escape(commits)}</td></tr>{versions}"
        f"</tbody></table>{shared}"
    )
