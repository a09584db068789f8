"""The paper's claims, each decided from rows by one rule: seen, not seen, or not tested.

The rule: a difference is taken seed by seed; a cell shows it if the 95 % interval of the mean difference lies above 0.
"Everywhere" wants every cell to show it, and a cell that lacks seeds leaves it untested. "Somewhere" wants one, at a
level raised for the number of cells (Bonferroni): among many, one is above 0 by chance. "On average" takes the mean
over the cells of a seed first. "No difference" wants the interval to lie near 0. With fewer than two seeds
nothing is tested.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal

from execlab.experiments.summary import LEVEL, Mean, cell, difference, grouped, mean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from execlab.experiments.summary import Row

ACCURACY = "teacher_forced_accuracy"  # the paper's
NARROW = 0.05  # how far an interval around 0 may reach for "no difference"
FAR = 0.2  # for "far below"
MANY = 8  # cells; of more, evidence tells the ends and the mean
HEADLINE = 0.99  # of the characters of nine-digit sums
Verdict = Literal["seen", "not seen", "not tested"]


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper and what the rows say about it."""

    text: str
    verdict: Verdict
    evidence: str
    experiment: str = ""


@dataclass(frozen=True)
class Comparison:
    """`better` above `worse`: everywhere, somewhere, or on average over the cells."""

    text: str
    better: str
    worse: str
    where: Literal["everywhere", "somewhere", "on average"] = "everywhere"

    def __call__(self, rows: Sequence[Row]) -> Claim:
        """By the rule."""
        if self.where == "on average":
            return self._on_average(rows)
        wanted = {cell(line) for line in rows}
        level = LEVEL if self.where == "everywhere" else 1 - (1 - LEVEL) / len(wanted)
        gaps = difference(rows, self.better, self.worse, ACCURACY, level)
        claim = _judge_cells(self.text, f"{self.better} minus {self.worse}", gaps, len(wanted), level, self.where)
        if len(wanted) > MANY and (average := self._average(rows)):
            claim = replace(claim, evidence=f"{claim.evidence} Mean over all cells: {_points(average)}.")
        return claim

    def _average(self, rows: Sequence[Row]) -> Mean | None:
        """Over seeds, of the mean over the cells of a seed; none with fewer than two seeds that are complete."""
        by = {(cell(line), line["seed"], line["strategy"]): line[ACCURACY] for line in rows}
        pairs = [
            (seed, value - by[where, seed, self.worse])
            for (where, seed, strategy), value in by.items()
            if strategy == self.better and (where, seed, self.worse) in by
        ]
        per_seed = [[gap for _, gap in found] for found in grouped(pairs, lambda pair: pair[0]).values()]
        complete = [found for found in per_seed if len(found) == len({cell(line) for line in rows})]
        return mean([fmean(found) for found in complete]) if len(complete) > 1 else None

    def _on_average(self, rows: Sequence[Row]) -> Claim:
        gap = self._average(rows)
        if gap is None:
            return Claim(self.text, "not tested", "fewer than two seeds have both strategies in every cell")
        cells = len({cell(line) for line in rows})
        evidence = f"{self.better} minus {self.worse}, mean of {cells} cells: {_points(gap)} points."
        return Claim(self.text, "seen" if gap.low > 0 else "not seen", evidence)


def _judge_cells(
    text: str, what: str, gaps: Mapping[Any, Mean], wanted: int, level: float = LEVEL, where: str = "everywhere"
) -> Claim:
    cells = {place: gap for place, gap in gaps.items() if gap.n > 1}
    shown = [place for place, gap in cells.items() if gap.low > 0]
    if not cells:
        return Claim(text, "not tested", "no cell has what is compared with two seeds or more")
    lacking = wanted - len(cells)
    told = [f"{place} {_points(gap)}" for place, gap in cells.items()]
    if len(told) > MANY:
        lowest, highest = (choose(cells, key=lambda place: cells[place].value) for choose in (min, max))
        told = [f"from {lowest} {_points(cells[lowest])} to {highest} {_points(cells[highest])}"]
    opposite = sum(gap.high < 0 for gap in cells.values())
    evidence = (
        f"{what}, in points: {'; '.join(told)}. Above 0 in {len(shown)} of {len(cells)} cells"
        + (f", below 0 in {opposite}" if opposite else "")
        + (f" at the level {level:.1%}" if where == "somewhere" else "")
        + (f"; {lacking} more lack seeds" if lacking else "")
    )
    verdict: Verdict = "seen" if shown else "not tested" if lacking else "not seen"
    if where == "everywhere":
        verdict = "not seen" if len(shown) < len(cells) else "not tested" if lacking else "seen"
    return Claim(text, verdict, f"{evidence}.")


def _headline(rows: Sequence[Row]) -> Claim:
    longest = max(line["length"] for line in rows)
    text = f"combined learns to add numbers of 9 digits with {100 * HEADLINE:.0f} % of the characters right"
    if len(rows) < 2 or longest < 9:
        return Claim(text, "not tested", "fewer than two seeds with 9 digits")
    found, whole = mean([line[ACCURACY] for line in rows]), mean([line["exact_match"] for line in rows])
    evidence = f"characters {_percent(found)}; whole sums, free-running {_percent(whole)}; n={found.n} seeds."
    return Claim(text, "seen" if found.low > HEADLINE else "not seen", evidence)


def _free_running(rows: Sequence[Row]) -> Claim:
    text = "free-running accuracy is below the paper's teacher-forced accuracy"
    combined = grouped((line for line in rows if line["strategy"] == "combined"), cell)
    gaps = {
        where: mean([line[ACCURACY] - line["free_running_accuracy"] for line in lines])
        for where, lines in combined.items()
    }
    return _judge_cells(text, "combined, teacher-forced minus free-running", gaps, len({cell(line) for line in rows}))


def _modifications(rows: Sequence[Row], one: str) -> dict[str, Mean]:
    """One modification minus each of the others, over seeds, of the mean over the lengths and strategies of a seed."""
    mine = [line for line in rows if line["budget"] == "full"]
    values = {
        name: {(line["seed"], line["length"], line["strategy"]): line[ACCURACY] for line in lines}
        for name, lines in grouped(mine, lambda line: line["modification"]).items()
    }
    gaps, whole = {}, len({(line["length"], line["strategy"]) for line in mine})
    for other in sorted(values.keys() - {one}):
        shared = sorted(values.get(one, {}).keys() & values[other].keys())
        # Runs of one seed are no independent witnesses: their mean is one. Seeds that lack a run would be another mean.
        per_seed = [keys for keys in grouped(shared, lambda key: key[0]).values() if len(keys) == whole]
        if len(per_seed) > 1:
            gaps[other] = mean([fmean(values[one][key] - values[other][key] for key in keys) for keys in per_seed])
    return gaps


def _best_modification(rows: Sequence[Row]) -> Claim:
    text = "doubling and inverting the input is best on memorization"
    gaps = _modifications(rows, "doubled and inverted")
    if len(gaps) < 3:
        return Claim(text, "not tested", "not all four modifications have been run with two seeds or more")
    evidence = "; ".join(f"minus {name}: {_points(gap)}" for name, gap in gaps.items())
    return Claim(text, "seen" if all(gap.low > 0 for gap in gaps.values()) else "not seen", f"in points: {evidence}.")


def _doubling(rows: Sequence[Row]) -> Claim:
    text = "doubling the input improves memorization"
    gap = _modifications(rows, "doubled").get("plain")
    if gap is None:
        return Claim(text, "not tested", "fewer than two seeds have the input plain and doubled")
    return Claim(text, "seen" if gap.low > 0 else "not seen", f"doubled minus plain: {_points(gap)} points.")


@dataclass(frozen=True)
class NoDifference:
    """Runs that differ in one column alone are alike; `names` says how its two values are called."""

    text: str
    column: str
    names: Mapping[str, Any]

    def __call__(self, rows: Sequence[Row]) -> Claim:
        """By the rule."""
        one, other = self.names.values()
        by = grouped(rows, lambda line: line[self.column])
        values = {value: {line["seed"]: line[ACCURACY] for line in lines} for value, lines in by.items()}
        seeds = sorted(values.get(one, {}).keys() & values.get(other, {}).keys())
        if len(seeds) < 2:
            return Claim(self.text, "not tested", "fewer than two seeds")
        gap = mean([values[one][seed] - values[other][seed] for seed in seeds])
        none = f"no difference means: within {100 * NARROW:.0f} points"
        evidence = f"{' minus '.join(self.names)}: {_points(gap)} points; {none}."
        if max(-gap.low, gap.high) <= NARROW:
            return Claim(self.text, "seen", evidence)
        return Claim(self.text, "not tested" if gap.low <= 0 <= gap.high else "not seen", evidence)


def _bias(rows: Sequence[Row]) -> Claim:
    text = "the outputs' bias is far below the model's accuracy"
    plain = [line for line in rows if not line["scrambled"]]
    if len(plain) < 2:
        return Claim(text, "not tested", "fewer than two seeds")
    gap = mean([line[ACCURACY] - line["most_frequent_character"] for line in plain])
    evidence = f"accuracy minus guessing: {_points(gap)} points; far means: more than {100 * FAR:.0f} points."
    return Claim(text, "seen" if gap.low > FAR else "not seen", evidence)


def _points(gap: Mean) -> str:
    return f"{100 * gap.value:+.1f} ({100 * gap.low:+.1f} to {100 * gap.high:+.1f}, n={gap.n})"


def _percent(found: Mean) -> str:
    return f"{100 * found.value:.2f} % ({100 * found.low:.2f} to {min(100 * found.high, 100):.2f})"


OTHERS = ("baseline", "naive", "mix")
MIXED_ABOVE = [(one, other) for one in ("mix", "combined") for other in ("baseline", "naive")]

RULES: dict[str, list[Callable[[Sequence[Row]], Claim]]] = {
    "programs": [
        *(Comparison(f"combined is above {other} in every program cell", "combined", other) for other in OTHERS),
        *(
            Comparison(f"combined is generally above {other} on programs", "combined", other, "on average")
            for other in OTHERS
        ),
        Comparison("naive is sometimes below baseline", "baseline", "naive", "somewhere"),
        _free_running,
    ],
    "addition": [
        Comparison("combined is above baseline on addition at every length", "combined", "baseline"),
        Comparison("combined is above naive on addition at every length", "combined", "naive"),
        Comparison("combined is generally above baseline on addition", "combined", "baseline", "on average"),
        Comparison("combined is generally above naive on addition", "combined", "naive", "on average"),
    ],
    "headline": [_headline],
    "memorization": [
        *(Comparison(f"{one} is always above {other} on memorization", one, other) for one, other in MIXED_ABOVE),
        *(
            Comparison(f"{one} is generally above {other} on memorization", one, other, "on average")
            for one, other in MIXED_ABOVE
        ),
        Comparison("combined is sometimes below mix on memorization", "mix", "combined", "somewhere"),
        _best_modification,
        _doubling,
    ],
    "statistics": [
        NoDifference("scrambling the characters changes nothing", "scrambled", {"scrambled": True, "plain": False}),
        _bias,
    ],
    "orders": [
        NoDifference(
            "climbing by nesting first instead of length first makes no noticeable difference",
            "order",
            {"nesting first": "nesting_first", "length first": "length_first"},
        )
    ],
}


def judge(rows: Sequence[Row], planned: Mapping[str, int] | None = None) -> list[Claim]:
    """Every claim that belongs to the experiments in the rows.

    `planned` is how many runs an experiment has: while some are missing, what they tell so far is no verdict.
    """
    by = grouped(rows, lambda line: line["experiment"])
    found = []
    for name in (name for name in RULES if name in by):
        done, whole = len(by[name]), (planned or {}).get(name, 0)
        for rule in RULES[name]:
            claim = replace(rule(by[name]), experiment=name)
            if done < whole:
                said = f"{done} of {whole} runs so far: {claim.evidence}"
                claim = replace(claim, verdict="not tested", evidence=said)
            found.append(claim)
    return found
