"""The tasks: each turns a difficulty into samples. A new task is one file here and one line in `TASKS`."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from execlab.errors import ExeclabError, unknown
from execlab.tasks.addition import AdditionTask
from execlab.tasks.memorization import MemorizationTask
from execlab.tasks.program import ProgramTask
from execlab.tasks.task import Difficulty, Sample, Task, check_difficulty

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

TASKS: dict[str, Callable[..., Task]] = {
    "program": ProgramTask,
    "addition": AdditionTask,
    "memorization": MemorizationTask,
}


def make_task(name: str, options: Mapping[str, object]) -> Task:
    """The named task with these options; None stands for an option's default."""
    if name not in TASKS:
        raise unknown("task", name, TASKS)
    kind = TASKS[name]
    known = set(inspect.signature(kind).parameters)
    given = {key: value for key, value in options.items() if value is not None}
    if strangers := sorted(given.keys() - known):
        has = f"its options are {', '.join(sorted(known))}" if known else "it has no options"
        raise ExeclabError(f"the task {name} has no option {strangers[0]!r}; {has}")
    return kind(**given)


__all__ = ["TASKS", "Difficulty", "Sample", "Task", "check_difficulty", "make_task"]
