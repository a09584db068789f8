"""The paper's claims, each decided from rows by one rule: seen, not seen, or not tested.

The rule: a difference between two strategies is taken seed by seed at equal compute; a cell shows it if the 95 %
interval of the mean difference lies above 0. "Everywhere" wants every cell to show it, "somewhere" at least one. With
fewer than two seeds there is no interval, and nothing is tested.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from execlab.experiments.summary import Mean, difference, grouped, mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execlab.experiments.summary import Row

ACCURACY = "teacher_forced_accuracy"  # the paper's
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
        cells = {where: gap for where, gap in difference(mine, self.better, self.worse, ACCURACY).items() if gap.n > 1}
        shown = [where for where, gap in cells.items() if gap.low > 0]
        if not cells:
            return Claim(self.text, "not tested", "no cell has both strategies with two seeds or more")
        seen = len(shown) == len(cells) if self.everywhere else bool(shown)
        told = "; ".join(f"{_name(where)} {_points(gap)}" for where, gap in cells.items())
        evidence = (
            f"{self.better} minus {self.worse}, in points: {told}. Above 0 in {len(shown)} of {len(cells)} cells."
        )
        return Claim(self.text, "seen" if seen else "not seen", evidence)


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
        name: {(line["length"], line["strategy"], line["seed"]): line[ACCURACY] for line in lines}
        for name, lines in by.items()
    }
    gaps = {}
    for other in sorted(values.keys() - {best}):
        shared = values.get(best, {}).keys() & values[other].keys()
        if len(shared) > 1:
            gaps[other] = mean([values[best][key] - values[other][key] for key in sorted(shared)])
    if len(gaps) < 3:
        return Claim(text, "not tested", "not all four modifications have been run")
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
    return Claim(
        text, "seen" if gap.low <= 0 <= gap.high else "not seen", f"scrambled minus plain: {_points(gap)} points"
    )


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
