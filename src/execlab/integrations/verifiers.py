"""verifiers, its v1 interface: a taskset whose train split never ends, with a reward of 0 or 1.

`vf-eval execlab-verifiers --env.taskset.length 4 --env.taskset.split test -n 200`: the id is that of the small package
execlab_verifiers, which comes with execlab, since verifiers takes top-level modules only. `vf-validate` checks the
labels with the interpreter. Options: the fields of `ExeclabConfig`.

vf-eval runs its harnesses as scripts of uv, which fetches their packages: the first time it needs a network.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, Literal

from execlab.data.dataset import score_answer
from execlab.integrations import need
from execlab.integrations.rows import endless, make_source
from execlab.prompts import truth_of

need("verifiers")

import verifiers.v1 as vf  # noqa: E402

COUNT = 10_000  # rows of validation and test


class ExeclabConfig(vf.TasksetConfig):
    """Which samples."""

    name_of_task: Literal["program", "addition", "memorization"] = "program"
    length: int = 4
    nesting: int = 1
    split: Literal["train", "validation", "test"] = "train"
    seed: int = 0
    form: Literal["plain", "examples", "work"] = "plain"
    shots: int | None = None


class ExeclabData(vf.TaskData):
    """A row."""

    answer: str
    question: str
    length: int
    nesting: int
    split: str


class ExeclabTask(vf.Task[ExeclabData, vf.State, vf.TaskConfig]):
    """A row with its reward."""

    @vf.reward
    async def correct(self, trace: vf.Trace) -> float:
        """1 if the one answer that the reply commits itself to is right."""
        return score_answer(trace.last_reply, {"answer": self.data.answer})

    async def validate(self, runtime: Any) -> bool:
        """Whether the label is what the interpreter prints."""
        del runtime
        return bool(truth_of(self.data.prompt_text) == self.data.answer)


class ExeclabTaskset(vf.Taskset[ExeclabTask, ExeclabConfig]):
    """Rows of one difficulty; those of train are endless."""

    def __init__(self, config: ExeclabConfig) -> None:
        super().__init__(config)
        self.INFINITE = config.split == "train"

    def load(self) -> Iterator[ExeclabTask]:
        """The rows."""
        config = self.config
        source = make_source(config.name_of_task, config.length, config.nesting, config.split, config.seed)
        for row in islice(endless(source, config.form, config.shots), None if self.INFINITE else COUNT):
            data = ExeclabData(
                id=f"{row['split']}-{row['index']}",
                prompt=row["messages"] if len(row["messages"]) > 1 else row["messages"][0]["content"],
                **{name: row[name] for name in ("answer", "question", "length", "nesting", "split")},
            )
            yield ExeclabTask(data, config.task)


__all__ = ["ExeclabTaskset"]
