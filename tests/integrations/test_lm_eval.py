"""lm-eval, with the YAML files of the package, over the protocol."""

from __future__ import annotations

from typing import Any

import pytest

from execlab.data.splits import split_of
from execlab.integrations import lm_eval_folder
from execlab.prompts import question_of

lm_eval = pytest.importorskip("lm_eval", reason="lm-eval is not installed; make test-integrations")


def evaluated(endpoint: str, task: str, model: str, shots: int = 0, **metadata: Any) -> tuple[float, list[Any]]:
    from lm_eval.tasks import TaskManager

    manager = TaskManager(include_path=str(lm_eval_folder()), metadata=metadata)
    found = lm_eval.simple_evaluate(
        model="local-chat-completions",
        model_args={"model": model, "base_url": f"{endpoint}/chat/completions", "num_concurrent": 8},
        tasks=[task],
        num_fewshot=shots,
        apply_chat_template=True,
        task_manager=manager,
        metadata=metadata,
        bootstrap_iters=0,
    )
    return found["results"][task]["exact_match,none"], found["samples"][task]


@pytest.mark.parametrize(("model", "accuracy"), [("oracle", 1.0), ("off-by-one", 0.0)])
def test_the_oracle_is_right(endpoint: str, model: str, accuracy: float) -> None:
    found, samples = evaluated(endpoint, "execlab_program", model, length="3..4", nesting=2, count=100)
    assert found == accuracy
    assert len(samples) == 200


def test_examples_are_of_the_train_split(endpoint: str) -> None:
    found, samples = evaluated(endpoint, "execlab_addition", "oracle", shots=3, length=4, count=20)
    assert found == 1.0
    for sample in samples:
        text = str(sample["arguments"]).replace("\\\\n", "\n").replace("\\n", "\n")
        shown = [question_of(part) for part in text.split('"role": "user"')[1:]]
        assert [split_of("addition", each) for each in shown] == ["train"] * 3 + ["test"]


def test_a_network_has_its_true_accuracy(endpoint: str, true_accuracy: float) -> None:
    found, _ = evaluated(endpoint, "execlab_addition", "addition-4-baseline", length=4, count=200)
    assert found == pytest.approx(true_accuracy, abs=1e-12)
    assert 0 < true_accuracy < 1
