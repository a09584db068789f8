"""The tasks: each turns a difficulty into samples. A new task is one file here and one line in `TASKS`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execlab.options import complete
from execlab.registry import build, find
from execlab.tasks.addition import AdditionTask
from execlab.tasks.memorization import MemorizationTask
from execlab.tasks.program import ProgramTask
from execlab.tasks.task import Difficulty, Sample, Task, check_difficulty

if TYPE_CHECKING:
    from collections.abc import Mapping

TASKS: dict[str, type[Task]] = {
    "program": ProgramTask,
    "addition": AdditionTask,
    "memorization": MemorizationTask,
}
NEEDS: tuple[str, ...] = (
    "name",
    "hardest",
    "is_python",
    "symbols",
    "outputs",
    "variant",
    "modification",
    "draw",
    "render",
    "plain",
    "canonical",
    "solve",
    "parts",
    "answer",
)
NEEDS += ("groups", "describe", "outside", "target_of")


def task_class(name: str) -> type[Task]:
    """The class behind a name or a trusted import path."""
    kind: type[Task] = find("task", name, TASKS, NEEDS)
    return kind


def make_task(name: str, options: Mapping[str, object]) -> Task:
    """The named task with these options; None stands for an option's default."""
    kind = task_class(name)
    given = complete("task", name, kind, options)
    return build("task", name, kind, **given)


__all__ = ["TASKS", "Difficulty", "Sample", "Task", "check_difficulty", "make_task", "task_class"]
