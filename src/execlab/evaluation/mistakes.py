"""What kind of mistake a wrong answer is, and which samples are hard.

>>> kind_of("print(17+25)", "42", "32")
'carry'
>>> kind_of("print(5-9)", "-4", "4")
'sign'
>>> (carries("print(95+17)"), longest_carry_chain("print(95+17)"))
(2, 2)
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from execlab.evaluation.scores import Score, exact, is_right, matches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from execlab.evaluation.decoding import Answer
    from execlab.tasks import Sample

KINDS = ("sign", "length of output", "carry", "single digit", "other")

_NUMBER = re.compile("-?[0-9]+")


def kind_of(input: str, target: str, said: str) -> str:
    """The kind of a wrong answer; the first that fits."""
    del input
    if _NUMBER.fullmatch(said) and _NUMBER.fullmatch(target):
        if said.lstrip("-") == target.lstrip("-"):
            return "sign"
        if len(said) != len(target):
            return "length of output"
        off = str(abs(int(said) - int(target)))
        if off.rstrip("0") == "1" and len(off) > 1:  # off by 10, 100, ...: a carry too many or too few
            return "carry"
        if sum(a != b for a, b in zip(said, target, strict=True)) == 1:
            return "single digit"
        return "other"
    return "length of output" if len(said) != len(target) else "other"


def sentence(input: str, target: str, said: str) -> str:
    """A mistake as a sentence: claims 17+25=32, it is 42."""
    expression = re.fullmatch(r"print\(([0-9]+\+[0-9]+)\)", input)
    if expression:
        return f"claims {expression[1]}={said}, it is {target}"
    return f"claims that {input!r} gives {said}, it is {target}"


def _carry_flags(input: str) -> list[bool]:
    """Whether each digit place of a sum carries, lowest first."""
    found = re.fullmatch(r"print\(([0-9]+)\+([0-9]+)\)", input)
    if found is None:
        return []
    width = max(len(found[1]), len(found[2]))
    flags, carry = [], 0
    for a, b in zip(reversed(found[1].zfill(width)), reversed(found[2].zfill(width)), strict=True):
        carry = int(a) + int(b) + carry >= 10
        flags.append(bool(carry))
    return flags


def carries(input: str) -> int:
    """How many digit places of a sum carry."""
    return sum(_carry_flags(input))


def longest_carry_chain(input: str) -> int:
    """The longest run of places that carry one after the other."""
    longest = run = 0
    for flag in _carry_flags(input):
        run = run + 1 if flag else 0
        longest = max(longest, run)
    return longest


OPERATIONS = {
    "loop": re.compile("for "),
    "conditional": re.compile(" if "),
    "multiplication": re.compile(r"\*"),
    "assignment": re.compile(";"),
    "addition or subtraction": re.compile(r"[0-9a-j)][+-][0-9a-j(]"),
}


def operations(input: str) -> list[str]:
    """Which operations a program's text shows."""
    return [name for name, pattern in OPERATIONS.items() if pattern.search(input)] or ["none"]


def grouped(
    samples: Sequence[Sample], answers: Sequence[Answer], keys: Callable[[str], Iterable[str | int]]
) -> dict[str, Score]:
    """Exact match within groups of samples; a sample may be in several."""
    groups: dict[str | int, list[bool]] = defaultdict(list)
    for sample, found in zip(samples, answers, strict=True):
        for key in keys(sample.input):
            groups[key].append(is_right(sample, found))
    return {str(key): exact(groups[key]) for key in sorted(groups, key=lambda key: (str(type(key)), key))}


def kinds(samples: Sequence[Sample], answers: Sequence[Answer]) -> dict[str, int]:
    """How many wrong answers of each kind."""
    counts = dict.fromkeys(KINDS, 0)
    for sample, found in zip(samples, answers, strict=True):
        if not is_right(sample, found):
            counts[kind_of(sample.input, sample.target, found.free_running)] += 1
    return counts


def by_position(samples: Sequence[Sample], answers: Sequence[Answer]) -> list[Score]:
    """Teacher-forced accuracy at each output position, the end mark's included."""
    positions: list[list[bool]] = []
    for sample, found in zip(samples, answers, strict=True):
        for i in range(len(sample.target) + 1):
            if i == len(positions):
                positions.append([])
            positions[i].append(
                matches(found.teacher_forced[: i + 1], sample.target) > matches(found.teacher_forced[:i], sample.target)
            )
    return [exact(place) for place in positions]
