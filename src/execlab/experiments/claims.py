"""The paper's claims, each decided from rows by one rule: seen, not seen, or not tested.

The rule: a difference between two strategies is taken seed by seed; a cell shows it if the 95 % interval of the mean
difference lies above 0. "Everywhere" wants every cell to show it, and a cell that lacks seeds leaves it untested.
"Somewhere" wants one, at a level raised for the number of cells (Bonferroni): among many, one is above 0 by chance. "No
difference" wants the interval to hold 0 and to be narrow. With fewer than two seeds nothing is tested.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Literal

from execlab.experiments.summary import LEVEL, Mean, cell, difference, grouped, mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execlab.experiments.summary import Row

ACCURACY = "teacher_forced_accuracy"  # the paper's
NARROW = 0.05  # how far an interval around 0 may reach for "no difference"
Verdict = Literal["seen", "not seen", "not tested"]


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper and what the rows say about it."""

    text: str
    verdict: Verdict
    evidence: str


@dataclass(frozen=True)
class Comparison:
    """`better` above `worse`, everywhere or somewhere."""

    experiment: str
    text: str
    better: str
    worse: str
    everywhere: bool = True

    def judge(self, rows: Sequence[Row]) -> Claim:
        """By the rule."""
        mine = [line for line in rows if line["experiment"] == self.experiment]
        wanted = {cell(line) for line in mine}
        level = LEVEL if self.everywhere else 1 - (1 - LEVEL) / len(wanted)
        gaps = difference(mine, self.better, self.worse, ACCURACY, level)
        cells = {where: gap for where, gap in gaps.items() if gap.n > 1}
        shown = [where for where, gap in cells.items() if gap.low > 0]
        if not cells:
            return Claim(self.text, "not tested", "no cell has both strategies with two seeds or more")
        lacking = len(wanted) - len(cells)
        told = "; ".join(f"{_name(where)} {_points(gap)}" for where, gap in cells.items())
        evidence = (
            f"{self.better} minus {self.worse}, in points: {told}. Above 0 in {len(shown)} of {len(cells)} cells"
            + (f" at the level {level:.1%}" if not self.everywhere else "")
            + (f"; {lacking} more lack seeds" if lacking else "")
        )
        verdict: Verdict = "seen" if shown else "not seen"
        if self.everywhere:
            verdict = "not seen" if len(shown) < len(cells) else "not tested" if lacking else "seen"
        return Claim(self.text, verdict, f"{evidence}.")


COMPARISONS = [
    Comparison("programs", "combined is above baseline in every program cell", "combined", "baseline"),
    Comparison("programs", "combined is above mix in every program cell", "combined", "mix"),
    Comparison("programs", "combined is above naive in every program cell", "combined", "naive"),
    Comparison("programs", "naive is sometimes below baseline", "baseline", "naive", everywhere=False),
    Comparison("addition", "combined is above naive on addition", "combined", "naive"),
    Comparison("memorization", "mix is above baseline on memorization", "mix", "baseline"),
    Comparison("memorization", "mix is above naive on memorization", "mix", "naive"),
    Comparison("memorization", "combined is above baseline on memorization", "combined", "baseline"),
    Comparison("memorization", "combined is above naive on memorization", "combined", "naive"),
]


def judge(rows: Sequence[Row]) -> list[Claim]:
    """Every claim that belongs to the experiments in the rows."""
    present = {line["experiment"] for line in rows}
    found = [comparison.judge(rows) for comparison in COMPARISONS if comparison.experiment in present]
    if "memorization" in present:
        found.append(_best_modification(rows))
    if "statistics" in present:
        found += [_scrambling(rows), _bias(rows)]
    return found


def _best_modification(rows: Sequence[Row]) -> Claim:
    text = "doubling and inverting the input is best on memorization"
    mine = [line for line in rows if line["experiment"] == "memorization" and line["budget"] == "full"]
    best = "doubled and inverted"
    by = grouped(mine, lambda line: line["modification"])
    values = {
        name: {(line["seed"], line["length"], line["strategy"]): line[ACCURACY] for line in lines}
        for name, lines in by.items()
    }
    gaps = {}
    for other in sorted(values.keys() - {best}):
        shared = sorted(values.get(best, {}).keys() & values[other].keys())
        # Runs of one seed are no independent witnesses: their mean is one.
        per_seed = grouped(shared, lambda key: key[0]).values()
        if len(per_seed) > 1:
            gaps[other] = mean([fmean(values[best][key] - values[other][key] for key in keys) for keys in per_seed])
    if len(gaps) < 3:
        return Claim(text, "not tested", "not all four modifications have been run with two seeds or more")
    evidence = "; ".join(f"minus {name}: {_points(gap)}" for name, gap in gaps.items())
    return Claim(text, "seen" if all(gap.low > 0 for gap in gaps.values()) else "not seen", f"in points: {evidence}")


def _scrambling(rows: Sequence[Row]) -> Claim:
    text = "scrambling the characters changes nothing"
    by = grouped((line for line in rows if line["experiment"] == "statistics"), lambda line: line["scrambled"])
    values = {name: {line["seed"]: line[ACCURACY] for line in lines} for name, lines in by.items()}
    seeds = sorted(values.get(True, {}).keys() & values.get(False, {}).keys())
    if len(seeds) < 2:
        return Claim(text, "not tested", "fewer than two seeds")
    gap = mean([values[True][seed] - values[False][seed] for seed in seeds])
    evidence = f"scrambled minus plain: {_points(gap)} points; nothing means: within {100 * NARROW:.0f} points"
    if not gap.low <= 0 <= gap.high:
        return Claim(text, "not seen", evidence)
    return Claim(text, "seen" if max(-gap.low, gap.high) <= NARROW else "not tested", evidence)


def _bias(rows: Sequence[Row]) -> Claim:
    text = "the outputs' bias is far below the model's accuracy"
    mine = [line for line in rows if line["experiment"] == "statistics" and not line["scrambled"]]
    if len(mine) < 2:
        return Claim(text, "not tested", "fewer than two seeds")
    gap = mean([line[ACCURACY] - line["most_frequent_character"] for line in mine])
    return Claim(text, "seen" if gap.low > 0 else "not seen", f"accuracy minus guessing: {_points(gap)} points")


def _points(gap: Mean) -> str:
    return f"{100 * gap.value:+.1f} ({100 * gap.low:+.1f} to {100 * gap.high:+.1f}, n={gap.n})"


def _name(where: tuple[int, int, str, str]) -> str:
    length, nesting, modification, budget = where
    told = [
        f"length {length}",
        f"nesting {nesting}" if nesting > 1 else "",
        modification,
        budget if budget != "full" else "",
    ]
    return " ".join(part for part in told if part)
