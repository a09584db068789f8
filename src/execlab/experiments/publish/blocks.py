"""Documents whose numbers come from recorded results alone.

A document says in a comment what is to stand there, and `execlab report results --fill FILE` writes it:

    <!-- execlab: claims programs -->
    <!-- end -->

Everything between the two comments is replaced. `BLOCKS` lists what can be asked for; a word that is no folder of
results, or a reading that was written for another verdict, is an error and no empty table.
"""

from __future__ import annotations

import json
import os
import re
from inspect import signature
from statistics import fmean
from typing import TYPE_CHECKING

from execlab.errors import ExeclabError, unknown
from execlab.experiments.analyse.claims import ACCURACY, RULE, points
from execlab.experiments.analyse.results import Results
from execlab.experiments.analyse.rows import ACCURACIES, read_json, value
from execlab.experiments.analyse.summary import Mean, average, cell, difference, grouped, mean
from execlab.experiments.publish.drawing import millions
from execlab.experiments.publish.figures import captions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from execlab.experiments.analyse.claims import Claim
    from execlab.experiments.analyse.rows import Row

OPENING = "<!-- execlab:"
OTHERS = ("baseline", "naive", "mix")  # what combined is compared with
MARK = re.compile(rf"({OPENING} ([^\n]+?) -->\n)((?:(?!{OPENING}).)*?)(<!-- end -->)", re.DOTALL)


def fill(document: Path, folder: Path) -> str:
    """The document's text with every block as the results say it."""
    results = Results(folder, document)

    def block(match: re.Match[str]) -> str:
        kind, *words = match[2].split()
        if kind not in BLOCKS:
            raise unknown("block", kind, BLOCKS)
        try:
            signature(BLOCKS[kind]).bind(results, *words)
        except TypeError as error:
            raise ExeclabError(f"{document} asks for {match[2]!r}: {error}") from None
        return match[1] + "\n".join(BLOCKS[kind](results, *words)) + "\n" + match[4]

    text = document.read_text(encoding="utf-8")
    found, count = MARK.subn(block, text)
    if count != text.count(OPENING):
        raise ExeclabError(f"a block of {document} has no <!-- end -->")
    return found


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}", *(f"| {' | '.join(row)} |" for row in rows)]


def _percent(found: Mean, digits: int = 1) -> str:
    low, high = max(found.low, 0.0), min(found.high, 1.0)
    told = f"{100 * found.value:.{digits}f} %"
    return f"{told} ({100 * low:.{digits}f} to {100 * high:.{digits}f})" if found.n > 1 else told


def _budget(rows: Sequence[Row]) -> str:
    ends = [min(row.characters for row in rows), max(row.characters for row in rows)]
    return " to ".join(dict.fromkeys(millions(end) for end in ends)) + " M"


def _reading(results: Results, claim: Claim) -> str:
    """What a person makes of a verdict: written for that verdict and no other."""
    said = results.json("readings.json").get(claim.text, {})
    if claim.verdict == "not tested":
        return str(said.get(claim.verdict, ""))
    if claim.verdict not in said:
        raise ExeclabError(f"readings.json has no sentence for {claim.text!r} being {claim.verdict}")
    return str(said[claim.verdict])


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:].rstrip('.')}."


def claims(results: Results, *names: str) -> list[str]:
    """Each claim of the paper: verdict, evidence, budget, reading."""
    full = [row for row in results.rows(names) if row.budget == "full"]
    by = grouped(full, lambda row: row.experiment)
    lines = [
        (
            claim.text,
            f"**{claim.verdict}**",
            f"{_sentence(claim.evidence)} {_budget(by[claim.experiment])} characters per run.",
            _reading(results, claim),
        )
        for claim in results.claims(names)
    ]
    return _table(["The paper", "Here", "Evidence (95 % intervals over n seeds)", "Reading"], lines)


def rule(_results: Results) -> list[str]:
    """How verdicts are come by."""
    return [f"- **{word}** {means}" for word, means in RULE.items()]


def verdicts(results: Results, *names: str) -> list[str]:
    """The claims in a few lines: which are seen, which are not."""
    by = grouped(results.claims(names), lambda claim: claim.verdict)
    return [
        f"- **{verdict}** ({len(by[verdict])}): " + "; ".join(claim.text for claim in by[verdict]) + "."
        for verdict in ("seen", "not seen", "not tested")
        if verdict in by
    ]


def gaps(results: Results, *names: str) -> list[str]:
    """Combined minus each other strategy in percentage points: the mean over cells, and how many cells show it."""
    lines = []
    for name in names:
        rows = [row for row in results.rows([name]) if row.budget == "full"]
        told = []
        for other in OTHERS:
            by_cell = difference(rows, "combined", other, ACCURACY).values()
            shown = f"{sum(gap.low > 0 for gap in by_cell)} of {len(by_cell)} cells"
            gap = average(rows, "strategy", "combined", other, ACCURACY)
            told.append(f"{points(gap)}, {shown}" if gap else "not all runs are done")
        lines.append([name, *told, _budget(rows)])
    return _table(["Percentage points: combined minus", *OTHERS, "Characters"], lines)


def cells(results: Results, name: str, column: str = "teacher_forced_accuracy", budget: str = "full") -> list[str]:
    """Means over seeds, a line per cell and a column per strategy, of an accuracy or of the climb where it is known."""
    if column not in (*ACCURACIES, "climb"):
        raise unknown("column", column, (*ACCURACIES, "climb"))
    rows = [row for row in results.rows([name]) if row.budget == budget and value(row, column) is not None]
    if not rows:
        raise ExeclabError(f"{results.document} asks for cells of {name} with the budget {budget!r}: there are none")
    strategies = list(dict.fromkeys(row.strategy for row in rows))
    by_cell = grouped(rows, cell)
    lines = []
    for where, alike in by_cell.items():
        by = grouped(alike, lambda row: row.strategy)
        counts = [len(by.get(strategy, [])) for strategy in strategies]
        means = {name: _percent(mean([value(row, column) for row in by[name]])) for name in by}
        guessed = fmean(row.most_frequent_character for row in alike)
        lines.append(
            {
                "Length": str(where.length),
                "Nesting": str(where.nesting),
                "": where.special,
                **{strategy: means.get(strategy, "") for strategy in strategies},
                "guessing": f"{100 * guessed:.1f} %",
                "Seeds": "/".join(str(n) for n in (counts if len(set(counts)) > 1 else counts[:1])),
                "Characters": _budget(alike),
                "Products": " and ".join(dict.fromkeys(row.precision for row in alike)),
            }
        )
    left_out = {
        "Products": len({line["Products"] for line in lines}) == 1,  # said by the figure's caption, or float32
        "Nesting": all(where.nesting == 1 for where in by_cell),
        "": not any(where.special for where in by_cell),
        "guessing": column != "teacher_forced_accuracy",  # what is guessed are characters
    }
    heads = [head for head in lines[0] if not left_out.get(head)]
    return _table(heads, ([line[head] for head in heads] for line in lines))


def figure(results: Results, name: str, picture: str) -> list[str]:
    """A picture with n, seeds and budget below it."""
    said = captions(results.rows([name]))
    if picture not in said:
        raise unknown("figure", picture, said)
    path = os.path.relpath(results.folder / name / "figures" / f"{picture}.png", results.document.parent)
    return [f"![{picture.replace('_', ' ')}]({path})", "", f"*{said[picture]}*"]


def runs(results: Results, *patterns: str) -> list[str]:
    """Single runs, a line each, with intervals over test samples."""
    lines = [
        [run.what, str(run.seed), f"{run.samples:,}", f"{run.seconds:,.0f} s"]
        + [_percent(run.scores[name], 2) for name in ACCURACIES]
        for run in results.runs(patterns)
    ]
    heads = ["Task", "Seed", "Samples", "Training", "Teacher-forced", "Free-running", "Exact match"]
    return _table(heads, lines)


def seeds(results: Results, *patterns: str) -> list[str]:
    """The same as means over seeds, a line per task of a pattern."""
    lines = []
    for pattern in patterns:
        for what, found in grouped(results.runs([pattern]), lambda run: run.what).items():
            scores = {name: mean([run.scores[name].value for run in found]) for name in ACCURACIES}
            told = [_percent(scores[name], 2) for name in ("exact_match", "teacher_forced_accuracy")]
            samples, minutes = _ends(run.samples for run in found), _ends(round(run.seconds / 60) for run in found)
            lines.append([what, *told, str(len(found)), samples, minutes])
    return _table(["Task", "Exact match", "Teacher-forced", "Seeds", "Samples", "Minutes"], lines)


def _ends(counts: Iterable[int]) -> str:
    """The smallest and the largest."""
    every = sorted(counts)
    return " to ".join(dict.fromkeys(f"{count:,}" for count in (every[0], every[-1])))


def machines(results: Results, *names: str) -> list[str]:
    """Where and how long."""
    lines = []
    for name in names:
        rows = results.rows([name])
        said = [json.loads(row.versions) for row in rows]
        told = [
            f"{one.get('processor')}, {one.get('kernel', '').rpartition(', ')[2]}, Python {one.get('python')}, "
            f"torch {one.get('torch')}"
            if one
            else "not recorded"
            for one in said
        ]
        planned = len(read_json(results.folder / name / "grid.json", rows))
        count = {one: told.count(one) for one in dict.fromkeys(told)}
        lines.append(
            [
                name,
                f"{len(rows)} of {planned}",
                f"{sum(row.characters for row in rows) / 1e6:,.0f} M",
                f"{sum(row.seconds for row in rows) / 3600:.1f} h",
                "; ".join(f"{one} ({n})" if len(count) > 1 else one for one, n in count.items()),
            ]
        )
    return _table(["Experiment", "Runs", "Characters", "Core hours", "Machine"], lines)


def calibration(results: Results) -> list[str]:
    """What `combined` needed, cell by cell."""
    lines = [
        [
            line["task"],
            str(line["length"]),
            str(line["nesting"]),
            f"{line['characters'] / 1e6:.2f} M" if line["characters"] else f"not within {line['read'] / 1e6:.1f} M",
            f"{line['best']:.1%}".replace("%", " %"),
        ]
        for line in results.json("calibration.json")
    ]
    return _table(["Task", "Length", "Nesting", "Characters to 90 %", "Best on validation"], lines)


def examples(results: Results, name: str, count: str = "2") -> list[str]:
    """Test samples with what each strategy's model prints."""
    if not count.isdecimal():
        raise ExeclabError(f"{results.document} asks for {count!r} examples; it must be a whole number")
    lines = []
    for setting in results.json(f"{name}/examples.json"):
        lines += [f"Length {setting['length']}, nesting {setting['nesting']}:", ""]
        for example in setting["examples"][: int(count)]:
            said = [
                f"{strategy} {text}{'' if text == example['target'] else ' (wrong)'}"
                for strategy, text in example["predictions"].items()
            ]
            lines += ["```", example["input"], "```", f"Target {example['target']}; " + "; ".join(said) + ".", ""]
    return lines[:-1]


def published(results: Results, *names: str) -> list[str]:
    """What others have published (published.json), and beside it our models, free-running on the mix distribution."""
    ours = [(results.evaluated(f"mix/{name}.json"), results.report(f"universal/{name}.json")) for name in names]
    lines = []
    for task, models in grouped(ours, lambda pair: pair[0].task).items():
        for line in results.json("published.json"):
            if line["task"] == task:
                scores = [f"{100 * line[name]:.0f} %" for name in ("characters", "sequences")]
                lines.append([task, line["source"], *scores, "", "not known"])
        for model, report in models:
            whole, counters = model.test.scores.exact_match, report.counters
            scores = [_percent(Mean(*score)) for score in (model.test.scores.free_running_accuracy, whole)]
            hardest = f"length up to {model.length}" + f", nesting up to {model.nesting}" * (model.nesting > 1)
            spent = f"{counters.characters / 1e6:.0f} M characters, {counters.seconds / 60:.0f} minutes"
            lines.append([task, f"execlab, {hardest}", *scores, f"{whole.n:,}", spent])
    return _table(["Task", "Model", "Characters", "Whole outputs", "Test samples", "Training"], lines)


BLOCKS: dict[str, Callable[..., list[str]]] = {
    "rule": rule,
    "claims": claims,
    "verdicts": verdicts,
    "gaps": gaps,
    "cells": cells,
    "figure": figure,
    "runs": runs,
    "seeds": seeds,
    "machines": machines,
    "calibration": calibration,
    "examples": examples,
    "published": published,
}
