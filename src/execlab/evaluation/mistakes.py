"""What kind of mistake a wrong answer is, and which samples are hard.

>>> kind_of("print(17+25)", "42", "32")
'carry'
>>> kind_of("print(5-9)", "-4", "4")
'sign'
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from execlab.data.vocabulary import END_MARK
from execlab.evaluation.scores import Score, exact, is_right

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execlab.evaluation.decoding import Answer
    from execlab.tasks import Sample, Task

KINDS = ("sign", "length of output", "carry", "single digit", "other")

_NUMBER = re.compile("-?[0-9]+")


def kind_of(input: str, target: str, printed: str) -> str:
    """The kind of a wrong answer; the first that fits."""
    del input
    if _NUMBER.fullmatch(printed) and _NUMBER.fullmatch(target):
        if printed.lstrip("-") == target.lstrip("-"):
            return "sign"
        if len(printed) != len(target):
            return "length of output"
        off = str(abs(int(printed) - int(target)))
        if off.rstrip("0") == "1" and len(off) > 1:  # off by 10, 100, ...: a carry too many or too few
            return "carry"
        if sum(a != b for a, b in zip(printed, target, strict=True)) == 1:
            return "single digit"
        return "other"
    return "length of output" if len(printed) != len(target) else "other"


def sentence(input: str, target: str, printed: str) -> str:
    """A mistake as a sentence: claims 17+25=32, it is 42."""
    expression = re.fullmatch(r"print\(([0-9]+\+[0-9]+)\)", input)
    if expression:
        return f"claims {expression[1]}={printed}, it is {target}"
    return f"claims that {input!r} gives {printed}, it is {target}"


def grouped(task: Task, samples: Sequence[Sample], answers: Sequence[Answer]) -> dict[str, dict[str, Score]]:
    """Exact match within the groups that a task puts its samples into; a sample may be in several rows of a table."""
    tables: dict[str, dict[str, list[bool]]] = {}
    for sample, printed in zip(samples, answers, strict=True):
        for table, rows in task.groups(sample).items():
            for row in rows:
                tables.setdefault(table, {}).setdefault(row, []).append(is_right(sample, printed, task.answer))
    return {table: {row: exact(rows[row]) for row in sorted(rows, key=_order)} for table, rows in tables.items()}


def _order(row: str) -> tuple[int, str]:
    """Numbers by size, before words."""
    return (int(row), "") if row.isdecimal() else (10**9, row)


def kinds(task: Task, samples: Sequence[Sample], answers: Sequence[Answer]) -> dict[str, int]:
    """How many wrong answers of each kind."""
    counts = dict.fromkeys(KINDS, 0)
    for sample, printed in zip(samples, answers, strict=True):
        if not is_right(sample, printed, task.answer):
            counts[kind_of(sample.input, task.answer(sample.target), task.answer(printed.free_running))] += 1
    return counts


def by_position(task: Task, samples: Sequence[Sample], answers: Sequence[Answer]) -> list[Score]:
    """Teacher-forced accuracy at each position of the answer, the end mark's included."""
    positions: list[list[bool]] = []
    for sample, printed in zip(samples, answers, strict=True):
        text, length = sample.target + END_MARK, len(task.answer(sample.target)) + 1
        for i, (letter, true) in enumerate(zip(printed.teacher_forced[-length:], text[-length:], strict=True)):
            if i == len(positions):
                positions.append([])
            positions[i].append(letter == true)
    return [exact(place) for place in positions]


@dataclass(frozen=True)
class WorkScore:
    """How well the work is shown, free-running: whole, and where the first wrong step is."""

    accuracy: Score  # every part of the work is right
    first_wrong_step: dict[int, int]  # number of the step, from 1: in how many samples


def first_wrong(task: Task, target: str, printed: str) -> int | None:
    """The number of the first part that is not what it should be, from 1; None if all are.

    >>> from execlab.tasks import make_task
    >>> first_wrong(make_task("program", {"work": "results"}), "21;321;123", "21;322;123")
    2
    """
    theirs, ours = task.parts(target), task.parts(printed)
    pairs = enumerate(zip_longest(theirs, ours), 1)
    return next((number for number, (true, part) in pairs if true != part), None)


def work_score(task: Task, samples: Sequence[Sample], answers: Sequence[Answer]) -> WorkScore | None:
    """The score of the work; None if no sample has any."""
    if all(len(task.parts(sample.target)) == 1 for sample in samples):
        return None
    wrong = [first_wrong(task, s.target, a.free_running) for s, a in zip(samples, answers, strict=True)]
    steps = [len(task.parts(sample.target)) - 1 for sample in samples]
    whole = [number is None or number > count for number, count in zip(wrong, steps, strict=True)]
    counts = Counter(number for number, right in zip(wrong, whole, strict=True) if number is not None and not right)
    return WorkScore(exact(whole), dict(sorted(counts.items())))
