"""Documents whose numbers come from recorded results alone.

A comment in a document names what belongs there, and `execlab report results --fill FILE` writes it:

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
from execlab.experiments.analyse.summary import Mean, average, difference, grouped, mean, setting_of
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
    """The document's text with every block filled in from the results."""
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
    filled, count = MARK.subn(block, text)
    if count != text.count(OPENING):
        raise ExeclabError(f"a block of {document} has no <!-- end -->")
    return filled


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}", *(f"| {' | '.join(row)} |" for row in rows)]


def _percent(share: Mean, digits: int = 1) -> str:
    low, high = max(share.low, 0.0), min(share.high, 1.0)
    text = f"{100 * share.value:.{digits}f} %"
    return f"{text} ({100 * low:.{digits}f} to {100 * high:.{digits}f})" if share.n > 1 else text


def _budget(rows: Sequence[Row]) -> str:
    ends = [min(row.characters for row in rows), max(row.characters for row in rows)]
    return " to ".join(dict.fromkeys(millions(end) for end in ends)) + " M"


def _reading(results: Results, claim: Claim) -> str:
    """A person's comment on a verdict, written for that verdict and no other."""
    sentences = results.json("readings.json").get(claim.text, {})
    if claim.verdict == "not tested":
        return str(sentences.get(claim.verdict, ""))
    if claim.verdict not in sentences:
        raise ExeclabError(f"readings.json has no sentence for {claim.text!r} being {claim.verdict}")
    return str(sentences[claim.verdict])


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
    """The rule behind each verdict."""
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
    """Combined minus each other strategy in percentage points: the mean over settings, and how many of them show it."""
    lines = []
    for name in names:
        rows = [row for row in results.rows([name]) if row.budget == "full"]
        texts = []
        for other in OTHERS:
            by_setting = difference(rows, "combined", other, ACCURACY).values()
            shown = f"{sum(gap.low > 0 for gap in by_setting)} of {len(by_setting)} cells"
            gap = average(rows, "strategy", "combined", other, ACCURACY)
            texts.append(f"{points(gap)}, {shown}" if gap else "not all runs are done")
        lines.append([name, *texts, _budget(rows)])
    return _table(["Percentage points: combined minus", *OTHERS, "Characters"], lines)


def cells(results: Results, name: str, column: str = "teacher_forced_accuracy", budget: str = "full") -> list[str]:
    """Means over seeds of an accuracy or of the climb: a line per setting and a column per strategy."""
    if column not in (*ACCURACIES, "climb"):
        raise unknown("column", column, (*ACCURACIES, "climb"))
    rows = [row for row in results.rows([name]) if row.budget == budget and value(row, column) is not None]
    if not rows:
        raise ExeclabError(f"{results.document} asks for cells of {name} with the budget {budget!r}: there are none")
    strategies = list(dict.fromkeys(row.strategy for row in rows))
    by_setting = grouped(rows, setting_of)
    lines = []
    for where, alike in by_setting.items():
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
        "Products": len({line["Products"] for line in lines}) == 1,  # the figure's caption has it, or it is float32
        "Nesting": all(where.nesting == 1 for where in by_setting),
        "": not any(where.special for where in by_setting),
        "guessing": column != "teacher_forced_accuracy",  # what is guessed are characters
    }
    heads = [head for head in lines[0] if not left_out.get(head)]
    return _table(heads, ([line[head] for head in heads] for line in lines))


def figure(results: Results, name: str, picture: str) -> list[str]:
    """A picture with n, seeds and budget below it."""
    texts = captions(results.rows([name]))
    if picture not in texts:
        raise unknown("figure", picture, texts)
    path = os.path.relpath(results.folder / name / "figures" / f"{picture}.png", results.document.parent)
    return [f"![{picture.replace('_', ' ')}]({path})", "", f"*{texts[picture]}*"]


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
        for what, alike in grouped(results.runs([pattern]), lambda run: run.what).items():
            scores = {name: mean([run.scores[name].value for run in alike]) for name in ACCURACIES}
            accuracies = [_percent(scores[name], 2) for name in ("exact_match", "teacher_forced_accuracy")]
            samples, minutes = _ends(run.samples for run in alike), _ends(round(run.seconds / 60) for run in alike)
            lines.append([what, *accuracies, str(len(alike)), samples, minutes])
    return _table(["Task", "Exact match", "Teacher-forced", "Seeds", "Samples", "Minutes"], lines)


def _ends(counts: Iterable[int]) -> str:
    """The smallest and the largest."""
    every = sorted(counts)
    return " to ".join(dict.fromkeys(f"{count:,}" for count in (every[0], every[-1])))


def machines(results: Results, *names: str) -> list[str]:
    """On which machines the runs were made, and how long they took."""
    lines = []
    for name in names:
        rows = results.rows([name])
        recorded = [json.loads(row.versions) for row in rows]
        texts = [
            f"{known.get('processor')}, {known.get('kernel', '').rpartition(', ')[2]}, Python {known.get('python')}, "
            f"torch {known.get('torch')}"
            if known
            else "not recorded"
            for known in recorded
        ]
        planned = len(read_json(results.folder / name / "grid.json", rows))
        count = {known: texts.count(known) for known in dict.fromkeys(texts)}
        lines.append(
            [
                name,
                f"{len(rows)} of {planned}",
                f"{sum(row.characters for row in rows) / 1e6:,.0f} M",
                f"{sum(row.seconds for row in rows) / 3600:.1f} h",
                "; ".join(f"{known} ({n})" if len(count) > 1 else known for known, n in count.items()),
            ]
        )
    return _table(["Experiment", "Runs", "Characters", "Core hours", "Machine"], lines)


def calibration(results: Results) -> list[str]:
    """How many characters `combined` needed in each setting."""
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
    """Test samples with the output of each strategy's model."""
    if not count.isdecimal():
        raise ExeclabError(f"{results.document} asks for {count!r} examples; it must be a whole number")
    lines = []
    for setting in results.json(f"{name}/examples.json"):
        lines += [f"Length {setting['length']}, nesting {setting['nesting']}:", ""]
        for example in setting["examples"][: int(count)]:
            outputs = [
                f"{strategy} {text}{'' if text == example['target'] else ' (wrong)'}"
                for strategy, text in example["predictions"].items()
            ]
            lines += ["```", example["input"], "```", f"Target {example['target']}; " + "; ".join(outputs) + ".", ""]
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
