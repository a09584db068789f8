"""What kind of mistake a wrong answer is, and which samples are hard.

>>> kind_of("print(17+25)", "42", "32")
'carry'
>>> kind_of("print(5-9)", "-4", "4")
'sign'
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from execlab.evaluation.scores import Score, exact, is_right, matches

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


def by_position(samples: Sequence[Sample], answers: Sequence[Answer]) -> list[Score]:
    """Teacher-forced accuracy at each output position, the end mark's included."""
    positions: list[list[bool]] = []
    for sample, printed in zip(samples, answers, strict=True):
        for i in range(len(sample.target) + 1):
            if i == len(positions):
                positions.append([])
            positions[i].append(
                matches(printed.teacher_forced[: i + 1], sample.target)
                > matches(printed.teacher_forced[:i], sample.target)
            )
    return [exact(place) for place in positions]
