"""lm-eval: `lm_eval --include_path $(execlab integrations lm-eval) --tasks execlab_program --model ...`.

Difficulty and the rest through --metadata '{"length": "1..4", "nesting": 2, "count": 200}'. Few-shot examples
(--num_fewshot 3) are of the train split. The functions here are what the YAML files name.
"""

from __future__ import annotations

from typing import Any

from execlab.data.dataset import score_answer
from execlab.integrations.rows import rows

FEWSHOT = 100  # rows of train to take examples from
KNOWN: tuple[str, ...] = (
    "length",
    "nesting",
    "count",
    "seed",
    "split",
    "form",
    "shots",
    "dialect",
    "layout",
    "operations",
    "modulus",
)
KNOWN += ("invert", "double")


def load_program(**metadata: Any) -> dict[str, Any]:
    """Programs."""
    return _load("program", metadata)


def load_addition(**metadata: Any) -> dict[str, Any]:
    """Sums."""
    return _load("addition", metadata)


def load_memorization(**metadata: Any) -> dict[str, Any]:
    """Strings of digits."""
    return _load("memorization", {"length": 20, **metadata})


def _load(task: str, metadata: dict[str, Any]) -> dict[str, Any]:
    from datasets import Dataset

    options = {name: value for name, value in metadata.items() if name in KNOWN}  # lm-eval adds its own
    train = {**options, "split": "train", "form": "plain", "count": FEWSHOT}
    return {"test": Dataset.from_list(rows(task, **options)), "train": Dataset.from_list(rows(task, **train))}


def process_results(row: dict[str, Any], replies: list[str]) -> dict[str, float]:
    """1 if the one answer that a reply commits itself to is right."""
    return {"exact_match": score_answer(replies[0], row)}
