"""Tables for people, drawn with rich; `--json` gives the same values to programs."""

from __future__ import annotations

import sys
from itertools import islice, zip_longest
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from execlab.data.statistics import PAPER, RELEASED_LENGTHS
from execlab.data.vocabulary import END_MARK
from execlab.errors import printable
from execlab.tasks import Difficulty

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from execlab.data.audit import Audit
    from execlab.data.foreign import ForeignAudit
    from execlab.data.sampling import Source
    from execlab.data.statistics import OutputStatistics, Share
    from execlab.evaluation.compare import Compared, Difference
    from execlab.evaluation.scorecard import Evaluated
    from execlab.evaluation.scores import Score
    from execlab.programs import TraceStep
    from execlab.training.load import Prediction


MAX_ROWS = 500  # of a trace
MAX_VARIABLES = 20  # of a row


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leave it to the command line, which reports it in a sentence."""
        raise BrokenPipeError


def _console() -> Console:
    return _Console(width=None if sys.stdout.isatty() else 110, highlight=False)


def show_trace(text: str, steps: Iterable[TraceStep]) -> None:
    """The lines of a program in the order of execution, with the variables after each."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    table = Table("step", "line", "code", "variables after it")
    endless = iter(steps)
    for number, step in enumerate(islice(endless, MAX_ROWS), 1):
        shown = [f"{name}={_short(value)}" for name, value in islice(step.variables.items(), MAX_VARIABLES)]
        more = [f"and {len(step.variables) - MAX_VARIABLES} more"] if len(step.variables) > MAX_VARIABLES else []
        code, variables = lines[step.line - 1].strip()[:200], "  ".join(shown + more)
        table.add_row(str(number), str(step.line), Text(code), Text(variables))
    console = _console()
    console.print(table)
    if left := sum(1 for _ in endless):
        console.print(f"and {left:,} more steps")


def _short(value: int) -> str:
    return str(value) if value.bit_length() < 128 else f"<about {value.bit_length() * 0.30103:.0f} digits>"


def show_audit(source: Source, audit: Audit) -> None:
    """What was drawn, what is shared, what disagrees, and the verdict."""
    console = _console()
    options = "  ".join(f"{name}={value}" for name, value in source.options.items())
    title = f"{source.task.name}, length {source.goal.length}, nesting {source.goal.nesting}, seed {source.seed}"
    table = Table("split", title=title, caption=f"{options}  data_version={audit.data_version}")
    for heading in ("drawn", "distinct", "duplicates", "misplaced", f"shared with\nseed {source.seed ^ 1}"):
        table.add_column(heading, justify="right")
    for heading in ("shared\nby chance", "wrong by\nsolve", "wrong by\nCPython"):
        table.add_column(heading, justify="right")
    for split, row in audit.splits.items():
        numbers = list(vars(row).values())
        table.add_row(split, *("not checked" if number is None else f"{number:,}" for number in numbers))
    console.print(table)
    for pair, shared in audit.overlaps.items():
        console.print(f"in both splits of {pair}: {shared:,}; up to names: {audit.overlaps_up_to_names[pair]:,}")
    for example in audit.examples:
        console.print(Text(example))
    console.print("FAILED: " + "; ".join(audit.failures) if audit.failures else "passed")


def show_foreign(file: Path, task: str, audit: ForeignAudit) -> None:
    """What somebody else's file shares with execlab's splits."""
    console = _console()
    table = Table("", "texts", title=f"{printable(str(file))}: inputs of the task {task}")
    for split, count in audit.splits.items():
        table.add_row(f"in execlab's {split} split", f"{count:,}")
    table.add_row("distinct", f"{audit.distinct:,}")
    table.add_row("labelled, and the label is wrong", f"{audit.wrong:,}")
    table.add_row("not an input of this task", f"{audit.others:,}")
    console.print(table)
    for example in audit.examples:
        console.print(Text(example))
    console.print(
        f"{audit.shared:,} belong to the {audit.against} split: who trains on this file cannot be scored there"
        if audit.shared
        else f"nothing here belongs to the {audit.against} split"
    )


def show_statistics(task: str, statistics: Mapping[Difficulty, OutputStatistics]) -> None:
    """One row per difficulty, and the paper's printed numbers under the row they belong to."""
    count = next(iter(statistics.values())).samples
    table = Table("length", "nesting", title=f"{task}: {count:,} samples per row, shares in per cent")
    headings = (
        "length\nmean (max)",
        "released\nmean (max)",
        "most\ncommon",
        "counting\nthe end",
        "first",
        "second\nfirst",
        "last\ndigit",
        "guess per\nposition",
    )
    for heading in headings:
        table.add_column(heading, justify="right")
    for setting, row in statistics.items():
        released = RELEASED_LENGTHS.get(setting) if task == "program" else None
        table.add_row(
            str(setting.length),
            str(setting.nesting),
            f"{row.mean_length:.1f} ({row.max_length})",
            f"{released[0]} ({released[1]})" if released else "",
            *map(
                _share,
                (row.most_common, row.most_common_with_end, row.first, row.second_first, row.before_end),
            ),
            f"{row.guess_percent:.1f}",
        )
        if task == "program" and setting == Difficulty(4, 1):
            shares = map(
                _share, (PAPER["most_common"], None, PAPER["first"], PAPER["second_first"], PAPER["before_end"])
            )
            table.add_row("", "paper", "", "", *shares, "", style="italic")
    console = _console()
    console.print(table)
    console.print(
        "most common: of all output characters; first: at the first position; last digit: right before the end;\n"
        "guess per position: the most frequent character at each position, learned on train, scored on test."
    )


def _share(share: Share | None) -> str:
    return "" if share is None else f"{share.character} {share.percent:.1f}"


def show_evaluation(evaluated: Evaluated) -> None:
    """The three accuracies, what guessing gives, and where the mistakes are."""
    console, test = _console(), evaluated.test
    where = f"{evaluated.task}, length {evaluated.length}, nesting {evaluated.nesting}, {evaluated.split} split"
    title = f"{evaluated.run}: {where}, {evaluated.strategy}, seed {evaluated.seed}"
    table = Table("", "accuracy", "95 % interval", "n", title=title)
    for name, score in test.scores._asdict().items():
        table.add_row(name.replace("_", " "), *_texts(score))
    table.add_row("chance", f"{test.chance:.2%}", "", "")
    table.add_row("most frequent character per position", f"{test.most_frequent_character:.2%}", "", "")
    console.print(table)
    if test.work:
        steps = "  ".join(f"{step}: {count:,}" for step, count in islice(test.work.first_wrong_step.items(), 20))
        whole = f"{test.work.accuracy.value:.2%} ({test.work.accuracy.low:.2%} to {test.work.accuracy.high:.2%})"
        console.print(f"whole work right: {whole}; first wrong step: {steps or 'none'}")
    places = "  ".join(f"{i}: {score.value:.0%}" for i, score in enumerate(test.by_position, 1))
    console.print(f"teacher-forced accuracy by output position: {places}")
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in test.kinds_of_error.items())
    console.print(f"kinds of error: {kinds}")
    for name, groups in test.tables.items():
        table = Table(name.replace("_", " "), "exact match", "95 % interval", "n")
        for group, score in groups.items():
            table.add_row(group, *_texts(score))
        console.print(table)


def _texts(score: Score) -> tuple[str, str, str]:
    return f"{score.value:.2%}", f"{score.low:.2%} to {score.high:.2%}", f"{score.n:,}"


def show_prediction(prediction: Prediction, *, teacher_forced: bool) -> None:
    """The answer, the truth, and every character with its probability; right and wrong by colour and sign."""
    console = _console()
    colour, sign = ("green", "right") if prediction.correct else ("red", "wrong")
    console.print(Text("Input:\n" + prediction.input))
    if len(prediction.parts) > 1 or len(prediction.true_parts) > 1:
        _show_work(console, prediction)
    console.print(Text(f"Target: {prediction.true_parts[-1]}"))
    console.print(Text("Prediction: ").append(f"{prediction.parts[-1]} ({sign})", style=colour))
    truth = prediction.true_parts[-1] + END_MARK
    table = Table("printed", "", "truth", "probability", "next likeliest")
    work = len(prediction.prediction) - len(prediction.parts[-1])
    for i, character in enumerate(prediction.characters[work:]):
        true = truth[i] if i < len(truth) else ""
        right = character.character == true
        printed = Text(repr(character.character)[1:-1], style="green" if right else "red")
        others = "  ".join(f"{repr(letter)[1:-1]} {share:.1%}" for letter, share in character.alternatives)
        table.add_row(printed, "=" if right else "x", true, f"{character.probability:.1%}", Text(others))
    console.print(table)
    if teacher_forced:
        console.print("teacher-forced: every character is printed after the correct ones before it")
    if prediction.outside:
        console.print(Text(f"outside the trained difficulty: {prediction.outside}"))


def _show_work(console: Console, prediction: Prediction) -> None:
    """The work step by step, the first wrong one marked; what follows it is wrong because of it."""
    table = Table("step", "printed", "", "truth")
    pairs = enumerate(zip_longest(prediction.parts[:-1], prediction.true_parts[:-1], fillvalue=""), 1)
    for number, (part, true) in pairs:
        mark = (
            Text("x  first wrong step", style="red") if number == prediction.first_wrong else Text("=" * (part == true))
        )
        table.add_row(str(number), Text(part, style="green" if part == true else "red"), mark, Text(true))
    console.print(table)


def show_comparison(about: str, rows: Sequence[Compared]) -> None:
    """One row per run; differences to the first, in percentage points."""
    heads = (f"difference in\n{name},\npercentage points" for name in ("teacher-forced", "exact match"))
    table = Table("run", "teacher-forced", "exact match", *heads, title=about)
    for row in rows:
        gaps = [row.teacher_forced_difference, row.exact_match_difference]
        shown = [_points(gap) if row is not rows[0] else "" for gap in gaps]
        scores = [row.scores.teacher_forced_accuracy, row.scores.exact_match]
        table.add_row(row.run, *(f"{s.value:.2%} ({s.low:.2%} to {s.high:.2%})" for s in scores), *shown)
    _console().print(table)


def _points(gap: Difference) -> str:
    value, low, high = (f"{100 * end:+.2f}" for end in gap)
    return f"{value} pp ({low} to {high})"
