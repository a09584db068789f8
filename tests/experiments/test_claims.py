"""Means, differences and verdicts, by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from rows import bare_row

from execlab.experiments.analyse.judge import judge
from execlab.experiments.analyse.summary import difference, mean, setting_of, student

if TYPE_CHECKING:
    from execlab.experiments.analyse.rows import Row


def line(strategy: str, seed: int, accuracy: float, **more: Any) -> Row:
    values = {
        "experiment": "programs",
        "strategy": strategy,
        "seed": seed,
        "length": 2,
        "nesting": 1,
        "modification": "",
        "budget": "full",
        "scrambled": False,
        "order": "length_first",
        "climb": 0.0,
        "most_frequent_character": 0.3,
        "teacher_forced_accuracy": accuracy,
        "free_running_accuracy": accuracy,
        "exact_match": accuracy,
    }
    return bare_row(**values | more)


def verdicts(rows: list[Row]) -> dict[str, str]:
    return {claim.text: claim.verdict for claim in judge(rows)}


def evidence(rows: list[Row], text: str) -> str:
    return {claim.text: claim.evidence for claim in judge(rows)}[text]


def test_intervals_by_hand() -> None:
    found = mean([1.0, 2.0, 3.0])
    assert found.value == 2.0
    assert found.half == pytest.approx(4.30265 / 3**0.5, rel=1e-5)
    assert mean([1.0, 1.0]).half == 0.0
    assert mean([0.0, 1.0] * 50).half == pytest.approx(1.98422 * 0.502519 / 10, rel=1e-4)


def test_differences_pair_seeds() -> None:
    """Large differences between seeds do not hide a small one between strategies."""
    rows = [line("baseline", seed, 0.1 * seed) for seed in range(3)]
    rows += [line("combined", seed, 0.1 * seed + 0.05 + 0.001 * seed) for seed in range(3)]
    rows += [line("combined", 7, 0.9)]  # has no partner
    (gap,) = difference(rows, "combined", "baseline", "teacher_forced_accuracy").values()
    assert gap.n == 3
    assert gap.low > 0


def test_every_cell_must_show_it() -> None:
    rows = [
        line(s, seed, a + 0.001 * seed * (s == "combined"))
        for s, a in (("baseline", 0.5), ("combined", 0.6))
        for seed in range(3)
    ]
    text = "combined is above baseline in every program cell"
    assert verdicts(rows)[text] == "seen"
    rows += [
        line(s, seed, 0.5 + 0.1 * (seed == 1) * (s == "combined"), length=3)
        for s in ("baseline", "combined")
        for seed in range(3)
    ]
    assert verdicts(rows)[text] == "not seen"


def test_a_cell_that_lacks_seeds_leaves_it_untested() -> None:
    text = "combined is above baseline in every program cell"
    rows = [line(s, seed, a) for s, a in (("baseline", 0.5), ("combined", 0.6)) for seed in range(3)]
    rows += [line("baseline", seed, 0.5, length=3) for seed in range(3)] + [line("combined", 0, 0.1, length=3)]
    assert verdicts(rows)[text] == "not tested"
    text = "naive is sometimes below baseline on programs"
    rows = [line(s, seed, a) for s, a in (("baseline", 0.5), ("naive", 0.6)) for seed in range(3)]
    assert verdicts([*rows, line("baseline", 0, 0.5, length=3)])[text] == "not tested"  # that cell may show it yet


def test_what_differs_is_no_seed() -> None:
    """Scrambled and plain, one order and the other: cells of their own."""
    kinds = ({"scrambled": True}, {"order": "nesting_first"}, {"modification": "doubled"}, {"budget": "short"})
    where = {setting_of(line("mix", 0, 0.5, **kind)) for kind in ({}, *kinds)}
    assert len(where) == 5
    assert sorted(one.special for one in where) == ["", "doubled", "nesting first", "scrambled", "short"]


def test_no_verdict_while_runs_are_missing() -> None:
    rows = [line(s, seed, a) for s, a in (("baseline", 0.5), ("combined", 0.6)) for seed in range(3)]
    text = "combined is above baseline in every program cell"
    (claim,) = [claim for claim in judge(rows, {"programs": 7}) if claim.text == text]
    assert claim.verdict == "not tested"
    assert claim.evidence.startswith(
        "6 of 7 runs so far: combined minus baseline, in percentage points: length 2 +10.0"
    )
    assert {claim.text: claim.verdict for claim in judge(rows, {"programs": 6})}[text] == "seen"


def test_many_cells_are_told_by_their_ends_and_those_that_decide() -> None:
    """By hand: gaps of -1, 0, ..., 8 percentage points with every seed."""
    rows = [
        line(s, seed, 0.5 + (s == "combined") * (length - 2) / 100, length=length)
        for s in ("baseline", "combined")
        for length in range(1, 11)
        for seed in range(3)
    ]
    claim = judge(rows)[0]
    assert claim.verdict == "not seen"
    assert claim.evidence == (
        "combined minus baseline, in percentage points: "
        "from length 1 -1.0 (-1.0 to -1.0, n=3) to length 10 +8.0 (+8.0 to +8.0, n=3). "
        "Above 0 in 8 of 10 cells, below 0 in 1; "
        "the others: length 1 -1.0 (-1.0 to -1.0, n=3); length 2 +0.0 (+0.0 to +0.0, n=3)."
    )


def test_a_raised_level_and_the_cell_that_decides_are_told() -> None:
    rows = [
        line(s, seed, 0.5 + (s == "baseline") * (0.1 if length == 4 else 0.2 * (seed - 1)), length=length)
        for s in ("baseline", "naive")
        for length in range(1, 11)
        for seed in range(3)
    ]
    (claim,) = [claim for claim in judge(rows) if "sometimes" in claim.text]
    assert claim.verdict == "seen"
    assert "in percentage points (99.5 % intervals): " in claim.evidence
    assert claim.evidence.endswith("Above 0 in 1 of 10 cells; these: length 4 +10.0 (+10.0 to +10.0, n=3).")


def test_runs_that_never_got_to_the_goal_are_told() -> None:
    rows = [line("combined", seed, 0.6) for seed in range(3)]
    rows += [line("naive", seed, 0.5, climb=climb) for seed, climb in enumerate((1.0, 0.4, None))]
    told = evidence(rows, "combined is above naive in every program cell")
    assert told.endswith("Above 0 in 1 of 1 cells. Naive never got to the goal in 1 of 2 runs; 1 more do not tell.")


def test_short_runs_are_no_part_of_a_claim() -> None:
    rows = [
        line(s, seed, a, experiment="memorization", modification="plain", budget=budget)
        for s, a in (("baseline", 0.5), ("mix", 0.6))
        for seed in range(3)
        for budget in ("full", "short")
    ]
    worse = [replace(row, teacher_forced_accuracy=0.1) if row.budget == "short" else row for row in rows]
    assert [claim.evidence for claim in judge(rows, {"memorization": 6})] == [
        claim.evidence for claim in judge(worse, {"memorization": 6})
    ]
    assert verdicts(rows)["mix is always above baseline on memorization"] == "seen"


def test_students_t() -> None:
    table = {1: 12.706, 2: 4.303, 3: 3.182, 5: 2.571, 10: 2.228, 30: 2.042}
    for freedom, value in table.items():
        assert student(0.95, freedom) == pytest.approx(value, abs=5e-4)
    assert student(0.99, 4) == pytest.approx(4.604, abs=5e-4)


def test_one_seed_tests_nothing() -> None:
    rows = [line("baseline", 0, 0.1), line("combined", 0, 0.9)]
    assert set(verdicts(rows).values()) == {"not tested"}


def test_sometimes_below_needs_one_cell() -> None:
    text = "naive is sometimes below baseline on programs"
    rows = [line(s, seed, a, length=2) for s, a in (("baseline", 0.5), ("naive", 0.6)) for seed in range(2)]
    assert verdicts(rows)[text] == "not seen"
    rows += [line(s, seed, a, length=3) for s, a in (("baseline", 0.5), ("naive", 0.4)) for seed in range(2)]
    assert verdicts(rows)[text] == "seen"


def test_best_modification() -> None:
    text = "doubling and inverting the input is best on memorization"
    names = {"plain": 0.5, "inverted": 0.6, "doubled": 0.6, "doubled and inverted": 0.7}
    rows = [
        line("mix", seed, value, experiment="memorization", modification=name)
        for name, value in names.items()
        for seed in range(2)
    ]
    assert verdicts(rows)[text] == "seen"
    assert verdicts([row for row in rows if row.modification != "plain"])[text] == "not tested"
    one = [row for row in rows if row.seed == 0]
    more = [replace(row, length=length) for row in one for length in (2, 3, 4)]
    assert verdicts(more)[text] == "not tested"  # lengths are no seeds
    longer = [replace(row, length=9) for row in rows if row.seed == 0]
    assert verdicts([*rows, *longer])[text] == "not tested"  # the other seed lacks them
    rows[0] = replace(rows[0], teacher_forced_accuracy=0.9)
    assert verdicts(rows)[text] == "not seen"
    worst = [
        replace(row, teacher_forced_accuracy=0.1) if row.modification == "doubled and inverted" else row for row in rows
    ]
    assert "so it is surely below inverted and doubled." in evidence(worst, text)  # plain varies too much to be sure


def test_doubling_is_compared_with_the_plain_input() -> None:
    text = "doubling the input improves memorization"
    rows = [
        line("mix", seed, value + 0.01 * seed, experiment="memorization", modification=name)
        for name, value in {"plain": 0.5, "doubled": 0.6}.items()
        for seed in range(2)
    ]
    assert verdicts(rows)[text] == "seen"
    assert "By strategy: mix +10.0 (+10.0 to +10.0, n=2)." in evidence(rows, text)
    worse = [replace(row, teacher_forced_accuracy=0.4) if row.modification == "doubled" else row for row in rows]
    assert verdicts(worse)[text] == "not seen"
    assert verdicts(rows[:3])[text] == "not tested"


def test_generally_hangs_on_no_single_cell() -> None:
    text = "combined is generally above mix on programs"
    gaps = {2: (0.2, 0.21, 0.22), 3: (-0.01, -0.01, -0.01), 4: (0.1, 0.11, 0.1)}
    rows = [
        line(s, seed, 0.5 + gap * (s == "combined"), length=length)
        for length, found in gaps.items()
        for seed, gap in enumerate(found)
        for s in ("mix", "combined")
    ]
    assert verdicts(rows)[text] == "seen"
    assert verdicts(rows)["combined is above mix in every program cell"] == "not seen"
    assert verdicts(rows)["combined is generally above naive on programs"] == "not tested"
    assert verdicts([row for row in rows if row.length == 2 or row.seed == 0])[text] == "not tested"
    one = [row for row in rows if row.length < 4]  # length 2 alone makes its mean
    (claim,) = [claim for claim in judge(one) if claim.text == text]
    assert claim.verdict == "not seen"
    assert claim.evidence == (
        "combined minus mix, in percentage points, mean of 2 cells +10.0 (+8.8 to +11.2, n=3); "
        "without length 2 -1.0 (-1.0 to -1.0, n=3)."
    )


def test_free_running_below_teacher_forced() -> None:
    text = "free-running accuracy is below teacher-forced accuracy, the paper's measure"
    rows = [line("combined", seed, 0.9, free_running_accuracy=0.88 + 0.001 * seed) for seed in range(3)]
    assert verdicts(rows)[text] == "seen"
    assert verdicts([*rows, line("baseline", 0, 0.5, length=3)])[text] == "not tested"
    rows += [line("combined", seed, 0.9, length=3, free_running_accuracy=0.8 + 0.1 * seed) for seed in range(3)]
    assert verdicts(rows)[text] == "not seen"


def test_the_order_of_the_climb() -> None:
    text = "climbing by nesting first instead of length first makes no noticeable difference"
    rows = [
        line("naive", seed, 0.7 + 0.01 * (seed == 1) * (order == "nesting_first"), experiment="orders", order=order)
        for order in ("length_first", "nesting_first")
        for seed in range(3)
    ]
    assert verdicts(rows)[text] == "seen"
    better = [replace(row, teacher_forced_accuracy=row.teacher_forced_accuracy + 0.1) for row in rows[3:]]
    assert verdicts(rows[:3] + better)[text] == "not seen"


def test_the_headline() -> None:
    text = "combined learns to add numbers of 9 digits with 99 % of the characters right"
    rows = [line("combined", seed, 0.995 + 0.001 * seed, experiment="headline", length=9) for seed in range(3)]
    assert verdicts(rows)[text] == "seen"
    assert verdicts(rows[:1])[text] == "not tested"
    assert verdicts([replace(row, length=3) for row in rows])[text] == "not tested"
    assert verdicts([replace(row, teacher_forced_accuracy=0.98) for row in rows])[text] == "not seen"


def test_statistics() -> None:
    rows = [line("combined", seed, 0.9 + 0.01 * seed, experiment="statistics") for seed in range(3)]
    rows += [line("combined", seed, 0.92 - 0.01 * seed, experiment="statistics", scrambled=True) for seed in range(3)]
    found = verdicts(rows)
    assert found["scrambling the characters changes nothing"] == "seen"
    wide = [replace(row, teacher_forced_accuracy=0.5 + 0.2 * row.seed) if row.scrambled else row for row in rows]
    assert verdicts(wide)["scrambling the characters changes nothing"] == "not tested"
    assert found["the outputs' bias is far below the model's accuracy"] == "seen"
    guessed = [replace(row, most_frequent_character=0.95) for row in rows[:3]]
    assert verdicts(guessed + rows[3:])["the outputs' bias is far below the model's accuracy"] == "not seen"
