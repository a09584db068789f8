"""Ranges of difficulties as a user writes them.

>>> parse_range("length", "1..6"), parse_range("nesting", "1,3"), parse_range("length", 4)
([1, 2, 3, 4, 5, 6], [1, 3], [4])
"""

from __future__ import annotations

import re

from execlab.errors import ExeclabError

_PART = re.compile(r"\s*([0-9]{1,4})(?:\s*(?:\.\.|-)\s*([0-9]{1,4}))?\s*")
MOST = 200


def parse_range(name: str, text: int | str) -> list[int]:
    """The numbers in "4", "1..6" or "1,3,5..7", in their order and once each."""
    numbers: dict[int, None] = {}
    for part in str(text).split(","):
        match = _PART.fullmatch(part)
        if match is None:
            raise ExeclabError(f"{name} is {str(text)[:40]!r}; write a number or a range such as 1..6")
        first, last = int(match[1]), int(match[2] or match[1])
        if not 1 <= first <= last or last - first >= MOST:
            raise ExeclabError(
                f"{name} is {str(text)[:40]!r}; a range goes from 1 or more to at most {MOST} numbers up"
            )
        numbers.update(dict.fromkeys(range(first, last + 1)))
    return list(numbers)
