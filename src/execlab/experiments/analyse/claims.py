"""The paper's claims, each decided from rows by one rule: seen, not seen, or not tested.

`RULE` is this rule in words, for documents and pages.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from execlab.experiments.analyse.summary import LEVEL, Mean, average, difference, grouped, mean, places, setting_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from execlab.experiments.analyse.rows import Row

ACCURACY = "teacher_forced_accuracy"  # the paper's
NARROW = 0.05  # how far an interval around 0 may reach for "no difference"
FAR = 0.2  # for "far below"
MANY = 8  # settings; of more, the evidence names the lowest, the highest and those that decide
Verdict = Literal["seen", "not seen", "not tested"]

RULE: dict[str, str] = {  # a word of the verdicts, and what it means
    "A difference": "is taken seed by seed, on the test split at the goal, with the same number of characters through "
    "the model for both. A cell shows it if the 95 % interval of its mean over seeds (Student's t) lies above 0.",
    "In every cell, always": "wants every cell to show it; one that lacks seeds leaves the claim untested.",
    "Sometimes": "wants one cell to show it, at a level raised for their number: among many, one is above 0 by chance. "
    "With three seeds only a wide gap can: the interval of one among sixteen cells reaches ten standard deviations.",
    "Generally": "is our weaker form of the paper's every and always: the mean over the cells of a seed lies above 0, "
    "and does so whichever single cell is left out.",
    "Modifications of the input": "are compared by the mean over the lengths and strategies of a seed, naive included.",
    "No difference": f"wants the whole interval within {100 * NARROW:.0f} percentage points of 0; one that holds 0 "
    "but reaches further has too few seeds to tell, and leaves the claim untested.",
    "Far below": f"wants it beyond {100 * FAR:.0f} percentage points.",
    "Not tested": "is what lacks runs: nothing is judged before all runs of an experiment are done, and one seed shows "
    "nothing.",
    "Not seen": "is not the opposite. With three seeds an interval reaches two and a half standard deviations to each "
    "side, so a few percentage points between runs that vary as much are not seen even where they are real. Where the "
    "opposite is shown, the evidence says in how many cells.",
    "Intervals": "are over seeds alone; those of accuracies are cut at 0 and 100 %. No seed is left out.",
}


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper and what the rows say about it."""

    text: str
    verdict: Verdict
    evidence: str
    experiment: str = ""


@dataclass(frozen=True)
class Comparison:
    """`better` above `worse`: everywhere, somewhere, or generally."""

    text: str
    better: str
    worse: str
    where: Literal["everywhere", "somewhere", "generally"] = "everywhere"
    column: str = ACCURACY

    def __call__(self, rows: Sequence[Row]) -> Claim:
        """By the rule."""
        claim = self._generally(rows) if self.where == "generally" else self._each_setting(rows)
        climbs = [_climb(rows, strategy) for strategy in (self.better, self.worse)]
        return replace(claim, evidence=" ".join(part for part in (claim.evidence, *climbs) if part))

    def _each_setting(self, rows: Sequence[Row]) -> Claim:
        wanted = len({setting_of(row) for row in rows})
        level = LEVEL if self.where == "everywhere" else 1 - (1 - LEVEL) / wanted
        gaps = difference(rows, self.better, self.worse, self.column, level)
        return _judge_settings(self.text, f"{self.better} minus {self.worse}", gaps, wanted, level, self.where)

    def _generally(self, rows: Sequence[Row]) -> Claim:
        gap = average(rows, "strategy", self.better, self.worse, self.column)
        if gap is None:
            return Claim(self.text, "not tested", "fewer than two seeds have both strategies in every cell.")
        settings = places(rows, "strategy")
        weakest, left = "", gap
        for where in settings:
            others = [row for row in rows if setting_of(row) != where]
            without = average(others, "strategy", self.better, self.worse, self.column)
            if without and without.low < left.low:
                weakest, left = f"; without {where} {points(without)}", without
        what = f"{self.better} minus {self.worse}, in percentage points"
        evidence = f"{what}, mean of {len(settings)} cells {points(gap)}{weakest}."
        return Claim(self.text, "seen" if left.low > 0 else "not seen", evidence)


def _climb(rows: Sequence[Row], strategy: str) -> str:
    """How often a strategy was below the goal at the end of its budget; empty if never."""
    climbs = [row.climb for row in rows if row.strategy == strategy]
    never, known = sum(share == 1 for share in climbs), sum(share is not None for share in climbs)
    silent = f"; {len(climbs) - known} more do not tell" if known < len(climbs) else ""
    return f"{strategy.capitalize()} never got to the goal in {never} of {known} runs{silent}." if never else ""


def _judge_settings(
    text: str, what: str, gaps: Mapping[Any, Mean], wanted: int, level: float = LEVEL, where: str = "everywhere"
) -> Claim:
    settings = {place: gap for place, gap in gaps.items() if gap.n > 1}
    shown = [place for place, gap in settings.items() if gap.low > 0]
    if not settings:
        return Claim(text, "not tested", "no cell has what is compared with two seeds or more.")
    lacking = wanted - len(settings)
    opposite = sum(gap.high < 0 for gap in settings.values())
    measured, decide = "; ".join(f"{place} {points(gap)}" for place, gap in settings.items()), ""
    if len(settings) > MANY:
        lowest, highest = (choose(settings, key=lambda place: settings[place].value) for choose in (min, max))
        measured = f"from {lowest} {points(settings[lowest])} to {highest} {points(settings[highest])}"
        deciding = shown if where == "somewhere" else [place for place in settings if place not in shown]
        if 0 < len(deciding) <= MANY:
            named = "; ".join(f"{place} {points(settings[place])}" for place in deciding)
            decide = f"; {'these' if where == 'somewhere' else 'the others'}: {named}"
    evidence = (
        f"{what}, in percentage points{f' ({100 * level:.1f} % intervals)' if level != LEVEL else ''}: {measured}. "
        f"Above 0 in {len(shown)} of {len(settings)} cells"
        + (f", below 0 in {opposite}" if opposite else "")
        + decide
        + (f"; {lacking} more lack seeds" if lacking else "")
    )
    verdict: Verdict = "seen" if shown else "not tested" if lacking else "not seen"
    if where == "everywhere":
        verdict = "not seen" if len(shown) < len(settings) else "not tested" if lacking else "seen"
    return Claim(text, verdict, f"{evidence}.")


def free_running_is_lower(rows: Sequence[Row]) -> Claim:
    """Whether free-running accuracy is below the paper's measure in every setting."""
    text = "free-running accuracy is below teacher-forced accuracy, the paper's measure"
    combined = grouped((row for row in rows if row.strategy == "combined"), setting_of)
    gaps = {
        where: mean([row.teacher_forced_accuracy - row.free_running_accuracy for row in lines])
        for where, lines in combined.items()
    }
    return _judge_settings(
        text, "combined, teacher-forced minus free-running", gaps, len({setting_of(row) for row in rows})
    )


@dataclass(frozen=True)
class BestModification:
    """One modification of the input above others."""

    text: str
    better: str
    others: Sequence[str]
    column: str = ACCURACY

    def __call__(self, rows: Sequence[Row]) -> Claim:
        """By the rule."""
        every = {other: average(rows, "modification", self.better, other, self.column) for other in self.others}
        gaps = {other: gap for other, gap in every.items() if gap}
        if len(gaps) < len(self.others):
            return Claim(self.text, "not tested", "not all that is compared has been run with two seeds or more.")
        evidence = "; ".join(f"minus {other} {points(gap)}" for other, gap in gaps.items())
        if below := [other for other, gap in gaps.items() if gap.high < 0]:
            evidence += f"; so it is surely below {' and '.join(below)}"
        if len(self.others) == 1:
            evidence += f". By strategy: {self._by_strategy(rows)}"
        verdict: Verdict = "seen" if all(gap.low > 0 for gap in gaps.values()) else "not seen"
        return Claim(self.text, verdict, f"{self.better}, in percentage points: {evidence}.")

    def _by_strategy(self, rows: Sequence[Row]) -> str:
        """What the mean over strategies may hide."""
        gaps = {
            strategy: average(lines, "modification", self.better, self.others[0], self.column)
            for strategy, lines in grouped(rows, lambda row: row.strategy).items()
        }
        return "; ".join(f"{strategy} {points(gap)}" for strategy, gap in gaps.items() if gap)


@dataclass(frozen=True)
class NoDifference:
    """Runs that differ in one column alone are alike; `names` gives its two values a name."""

    text: str
    column: str
    names: Mapping[str, Any]

    def __call__(self, rows: Sequence[Row]) -> Claim:
        """By the rule."""
        first, second = self.names.values()
        gap = average(rows, self.column, first, second, ACCURACY)
        if gap is None:
            return Claim(self.text, "not tested", "fewer than two seeds.")
        none = f"no difference means: within {100 * NARROW:.0f} percentage points"
        evidence = f"{' minus '.join(self.names)}: {points(gap)} percentage points; {none}."
        if max(-gap.low, gap.high) <= NARROW:
            return Claim(self.text, "seen", evidence)
        return Claim(self.text, "not tested" if gap.low <= 0 <= gap.high else "not seen", evidence)


def bias_is_far_below(rows: Sequence[Row]) -> Claim:
    """Whether the model is far above the majority baseline."""
    text = "the outputs' bias is far below the model's accuracy"
    plain = [row for row in rows if not row.scrambled]
    if len(plain) < 2:
        return Claim(text, "not tested", "fewer than two seeds.")
    gap = mean([row.teacher_forced_accuracy - row.most_frequent_character for row in plain])
    far = f"far means: more than {100 * FAR:.0f} percentage points"
    evidence = f"accuracy minus guessing: {points(gap)} percentage points; {far}."
    return Claim(text, "seen" if gap.low > FAR else "not seen", evidence)


def points(gap: Mean) -> str:
    """A difference in percentage points, with its interval."""
    return f"{100 * gap.value:+.1f} ({100 * gap.low:+.1f} to {100 * gap.high:+.1f}, n={gap.n})"


def percent(over_seeds: Mean) -> str:
    """A share with its interval."""
    return f"{100 * over_seeds.value:.2f} % ({100 * over_seeds.low:.2f} to {min(100 * over_seeds.high, 100):.2f})"
