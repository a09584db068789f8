"""Rows as harnesses want them: prompt, answer and metadata, from the stream that `execlab evaluate` draws from.

>>> row = rows("addition", length="1..3", count=2)[-1]
>>> row["length"], row["prompt"].startswith("What does this Python program print?")
(3, True)
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from execlab.data.ranges import parse_range
from execlab.data.sampling import Source
from execlab.errors import ExeclabError, unknown
from execlab.prompts import FORMS, Form, prompt_for
from execlab.tasks import Difficulty, make_task

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execlab.data.splits import Split

MOST = 1_000_000
PURPOSE = {"train": "sample", "validation": "evaluate", "test": "evaluate"}


def make_source(
    task: str, length: int, nesting: int = 1, split: Split = "test", seed: int = 0, **options: Any
) -> Source:
    """The samples of one difficulty: those of `execlab evaluate`; of train, those of `create_dataset`."""
    made = make_task(task, options)
    return Source(made, Difficulty(length, nesting), split, seed, purpose=PURPOSE.get(split, "sample"))


def endless(source: Source, form: Form = "plain", shots: int | None = None) -> Iterator[dict[str, Any]]:
    """All rows of a source."""
    if form not in FORMS:
        raise unknown("form of a prompt", form, FORMS)
    for row in source.rows():
        prompt = prompt_for(source, row.sample.input, form, shots)
        yield {
            "prompt": prompt.text,
            "messages": list(prompt.messages),
            "question": row.sample.input,
            "answer": row.sample.target,
            "task": source.task.name,
            **row.difficulty._asdict(),
            "split": source.split,
            "index": row.number,
        }


def rows(
    task: str,
    *,
    length: int | str = 4,
    nesting: int | str = 1,
    split: Split = "test",
    count: int = 200,
    seed: int = 0,
    form: Form = "plain",
    shots: int | None = None,
    **options: Any,
) -> list[dict[str, Any]]:
    """`count` rows of every difficulty; length and nesting are numbers or ranges such as "1..6"."""
    if not 0 <= int(count) <= MOST:
        raise ExeclabError(f"count is {count}; it must be from 0 to {MOST:,}")
    made: list[dict[str, Any]] = []
    for digits in parse_range("length", length):
        for operations in parse_range("nesting", nesting):
            source = make_source(task, digits, operations, split, int(seed), **options)
            made += islice(endless(source, form, shots), int(count))
    return made
