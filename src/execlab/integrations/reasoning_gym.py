"""reasoning-gym: `register()` lets its `create_dataset` make execlab_program, execlab_addition, execlab_memorization.

Other than reasoning-gym's own, items do not depend on seed + index, a split is part of the configuration, and splits
share no question. Scores are 0 or 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from execlab.data.dataset import Dataset, score_answer
from execlab.data.sampling import Source
from execlab.data.splits import Split
from execlab.integrations import need
from execlab.prompts import Form, prompt_for
from execlab.tasks import Difficulty, make_task

need("reasoning-gym")

from reasoning_gym.coaching.attributes import ScalarAttributeDefinition  # noqa: E402
from reasoning_gym.coaching.base_curriculum import BaseCurriculum  # noqa: E402
from reasoning_gym.dataset import ProceduralDataset  # noqa: E402
from reasoning_gym.factory import DATASETS, register_dataset  # noqa: E402


@dataclass
class ExeclabConfig:
    """Which samples."""

    length: int = 4
    nesting: int = 1
    split: Split = "train"
    form: Form = "plain"
    seed: int | None = None
    size: int = 500

    def validate(self) -> None:
        """Checked when the samples are described."""


class ExeclabDataset(ProceduralDataset):  # type: ignore[misc]
    """Samples of one task."""

    task = "program"

    def __init__(self, config: ExeclabConfig) -> None:
        super().__init__(config=config, seed=config.seed, size=config.size)
        goal = Difficulty(config.length, config.nesting)
        self.entries = Dataset(Source(make_task(self.task, {}), goal, config.split, self.seed), config.size)

    @property
    def category(self) -> str:
        """As reasoning-gym sorts its own."""
        return "algorithmic"

    def __getitem__(self, idx: int) -> dict[str, Any]:
        entry = self.entries[idx]
        prompt = prompt_for(self.entries.source, entry["question"], self.config.form)
        metadata = {**entry["metadata"], "input": entry["question"], "source_dataset": f"execlab_{self.task}"}
        metadata |= {"source_index": idx, "difficulty": {name: metadata[name] for name in ("length", "nesting")}}
        question = prompt.messages[0]["content"] if len(prompt.messages) == 1 else prompt.text
        return {"question": question, "answer": entry["answer"], "metadata": metadata}

    def score_answer(self, answer: str | None, entry: dict[str, Any]) -> float:
        """1 if the one answer that a reply commits itself to is right."""
        return score_answer(answer, entry)


class ExeclabCurriculum(BaseCurriculum):  # type: ignore[misc]
    """Length, and nesting where the task has it."""

    task = "program"

    def __init__(self) -> None:
        super().__init__(type(self).__name__, ExeclabConfig)
        hardest = make_task(self.task, {}).hardest
        for name in ("length", "nesting"):
            levels = list(range(1, min(getattr(hardest, name), 20) + 1))
            text = f"{name} of the samples"
            if len(levels) > 1:
                self._define_attributes(
                    ScalarAttributeDefinition(name=name, levels=levels, description=text, field_name=name)
                )


def register() -> list[str]:
    """Make the tasks known to reasoning-gym; once is enough, twice does no harm."""
    names = []
    for task in ("program", "addition", "memorization"):
        name = f"execlab_{task}"
        names.append(name)
        if name not in DATASETS:
            dataset = type(f"{task.title()}Dataset", (ExeclabDataset,), {"task": task})
            curriculum = type(f"{task.title()}Curriculum", (ExeclabCurriculum,), {"task": task})
            register_dataset(name, dataset, ExeclabConfig, curriculum)
    return names
