"""inspect-ai: `inspect eval execlab/program -T length=1..4 -T nesting=2 --model ...`.

The package's entry point makes the three tasks known. Scores are grouped by length and nesting. Options: length and
nesting (ranges, too), form (plain, examples, work), shots, count (of every difficulty), seed, split, the task's own.
"""

from __future__ import annotations

from typing import Any

from execlab.answers import extract_answer
from execlab.data.dataset import score_answer
from execlab.integrations import need
from execlab.integrations.rows import rows

need("inspect-ai")

from inspect_ai import Task, task  # noqa: E402
from inspect_ai.dataset import MemoryDataset, Sample  # noqa: E402
from inspect_ai.model import ChatMessageAssistant, ChatMessageUser  # noqa: E402
from inspect_ai.scorer import Score, Scorer, Target, accuracy, grouped, scorer, stderr  # noqa: E402
from inspect_ai.solver import TaskState, generate  # noqa: E402

ROLES = {"user": ChatMessageUser, "assistant": ChatMessageAssistant}


@scorer(metrics=[accuracy(), stderr(), grouped(accuracy(), "length"), grouped(accuracy(), "nesting")])
def committed_answer() -> Scorer:
    """1 if the one answer that a reply commits itself to is right."""

    async def score(state: TaskState, target: Target) -> Score:
        reply = state.output.completion
        return Score(value=score_answer(reply, {"answer": target.text}), answer=extract_answer(reply))

    return score


def make(name: str, **options: Any) -> Task:
    """A task of execlab as one of inspect-ai."""
    samples = [
        Sample(
            input=[ROLES[message["role"]](content=message["content"]) for message in row["messages"]],
            target=row["answer"],
            id=f"{row['length']}x{row['nesting']}-{row['index']}",
            metadata={name: row[name] for name in ("length", "nesting", "index", "split", "question")},
        )
        for row in rows(name, **options)
    ]
    return Task(MemoryDataset(samples, name=f"execlab-{name}"), solver=generate(), scorer=committed_answer())


@task
def program(length: int | str = 4, nesting: int | str = 1, **options: Any) -> Task:
    """Read a program, print its output."""
    return make("program", length=length, nesting=nesting, **options)


@task
def addition(length: int | str = 4, **options: Any) -> Task:
    """Add two numbers."""
    return make("addition", length=length, **options)


@task
def memorization(length: int | str = 20, **options: Any) -> Task:
    """Repeat digits."""
    return make("memorization", length=length, **options)
