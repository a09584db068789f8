"""TRL: a dataset and a reward function for GRPOTrainer.

    trainer = GRPOTrainer(model, reward_funcs=reward, train_dataset=dataset("program", length=3, count=10_000))

`reward` reads completions as texts or as messages. docs/llm_training.md has the whole recipe.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from execlab.data.dataset import score_answer
from execlab.errors import ExeclabError
from execlab.integrations.rows import rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execlab.data.splits import Split


def dataset(task: str, *, split: Split = "train", chat: bool = True, **options: Any) -> Any:
    """A `datasets.Dataset` with prompt (messages, or a text) and answer; options as of `rows`."""
    try:
        from datasets import Dataset
    except ImportError:
        raise ExeclabError("this needs datasets, which is not installed: pip install 'execlab[trl]'") from None
    made = rows(task, split=split, **options)
    kept = ("answer", "question", "length", "nesting")
    return Dataset.from_list(
        [{"prompt": row["messages"] if chat else row["prompt"], **{name: row[name] for name in kept}} for row in made]
    )


def reward(completions: Sequence[Any], answer: Sequence[str], **columns: Any) -> list[float]:
    """1 for every completion that commits itself to the right answer, else 0."""
    del columns
    return [score_answer(_text(each), {"answer": truth}) for each, truth in zip(completions, answer, strict=True)]


def _text(completion: Any) -> str:
    return completion if isinstance(completion, str) else str(completion[-1]["content"] or "")
