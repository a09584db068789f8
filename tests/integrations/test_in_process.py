"""Harnesses that need no server: reasoning-gym, OpenEnv, TRL, and the labels of verifiers."""

from __future__ import annotations

import asyncio

import pytest

import execlab
from execlab.data.splits import split_of
from execlab.errors import ExeclabError
from execlab.prompts import question_of, truth_of


@pytest.mark.parametrize("name", ["program", "addition", "memorization"])
def test_reasoning_gym(name: str) -> None:
    reasoning_gym = pytest.importorskip("reasoning_gym", reason="reasoning-gym is not installed")
    from execlab.integrations.reasoning_gym import register

    assert register() == register()
    asked = {"length": 4, "seed": 3, "size": 200}
    dataset = reasoning_gym.create_dataset(f"execlab_{name}", split="test", **asked)
    assert [dataset.score_answer(truth_of(entry["question"]), entry) for entry in dataset] == [1.0] * 200
    wrong = [str(int(truth_of(entry["question"])) + 1) for entry in dataset]
    assert [dataset.score_answer(each, entry) for each, entry in zip(wrong, dataset, strict=True)] == [0.0] * 200
    train = reasoning_gym.create_dataset(f"execlab_{name}", split="train", **asked)
    assert {split_of(name, entry["metadata"]["input"]) for entry in train} == {"train"}
    assert not {entry["question"] for entry in train} & {entry["question"] for entry in dataset}
    curriculum = reasoning_gym.factory.create_curriculum(f"execlab_{name}")
    assert curriculum.increment_attr_level("length")
    assert curriculum.generate_configuration({"seed": 1, "size": 3}).length == 2


def test_openenv() -> None:
    pytest.importorskip("openenv", reason="openenv is not installed; make test-integrations")
    from execlab.integrations.openenv import ExeclabEnvironment, Reply

    environment = ExeclabEnvironment("program", length=4, nesting=2)
    for added, reward in ((0, 1.0), (1, 0.0)):
        for index in range(200):
            question = environment.reset(split="test", index=index)
            assert not question.done
            assert split_of("program", question_of(question.prompt)) == "test"
            answer = int(truth_of(question.messages[-1]["content"]))
            done = environment.step(Reply(text=f"The answer is {answer + added}."))
            assert (done.done, done.reward, environment.state.step_count) == (True, reward, 1)
    assert environment.reset().prompt != environment.reset().prompt
    assert environment.list_splits() == ["train", "validation", "test"]
    assert environment.get_task("test", 3)["prompt"] == environment.reset(split="test", index=3).prompt
    assert len(environment.get_task_range("test", 5, 8)) == 3
    with pytest.raises(IndexError):
        environment.get_task("test", environment.num_tasks("test"))
    environment.step(Reply(text=""))
    with pytest.raises(ExeclabError, match=r"call reset\(\) first"):
        environment.step(Reply(text=""))


@pytest.mark.parametrize("chat", [True, False])
def test_trl(chat: bool) -> None:
    pytest.importorskip("trl", reason="trl is not installed; make test-integrations")
    from execlab.integrations.trl import dataset, reward

    made = dataset("program", length=3, nesting=2, count=200, chat=chat)
    truths = [truth_of(row["prompt"][-1]["content"] if chat else row["prompt"]) for row in made]
    for added, score in ((0, 1.0), (1, 0.0)):
        texts = [f"So the answer is {int(truth) + added}." for truth in truths]
        completions = [[{"role": "assistant", "content": text}] for text in texts] if chat else texts
        columns = {name: made[name] for name in made.column_names if name != "prompt"}
        assert reward(completions=completions, prompts=made["prompt"], completion_ids=None, **columns) == [score] * 200


def test_verifiers() -> None:
    """Real tasks and traces, without the programs that verifiers runs a model with."""
    vf = pytest.importorskip("verifiers.v1", reason="verifiers is not installed; make test-integrations")
    from verifiers.v1.utils.loaders import taskset_class, taskset_config_type

    kind, config = taskset_class("execlab-verifiers"), taskset_config_type("execlab-verifiers")
    train = kind(config(split="train"))
    assert not train.bounded
    assert [task.data.idx for task in train.take(70)] == list(range(70))
    tasks = list(kind(config(split="test", length=3, nesting=2)).take(200))
    assert {split_of("program", task.data.question) for task in tasks} == {"test"}
    for task in tasks:
        assert asyncio.run(task.validate(None))
        truth = int(truth_of(task.data.prompt_text))
        for added, reward in ((0, 1.0), (1, 0.0)):
            trace = vf.Trace.model_construct(nodes=[], root_reply=f"The answer is {truth + added}.")
            assert asyncio.run(task.correct(trace)) == reward


def test_none_is_imported_unasked() -> None:
    import subprocess
    import sys

    code = "import sys, execlab, execlab.cli, execlab.integrations; print(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"inspect_ai", "lm_eval", "verifiers", "reasoning_gym", "trl", "openenv", "huggingface_hub"} & set(
        loaded
    )
    assert execlab.extract_answer("42") == "42"
