"""Prompts: they ask for what the task wants, show only samples of train, and can be read back."""

from __future__ import annotations

import subprocess
import sys

import pytest

from execlab.answers import extract_answer
from execlab.data.sampling import Source
from execlab.data.splits import split_of
from execlab.errors import ExeclabError
from execlab.prompts import FORMS, PROMPT_VERSION, Form, draw_examples, make_prompt, prompt_for, question_of, truth_of
from execlab.tasks import Difficulty, make_task

TASKS: list[tuple[str, dict[str, object], Difficulty]] = [
    ("program", {}, Difficulty(4, 3)),
    ("program", {"layout": "indented", "modulus": 3}, Difficulty(4, 2)),
    ("addition", {}, Difficulty(4)),
    ("memorization", {}, Difficulty(8)),
    ("memorization", {"invert": True}, Difficulty(8)),
    ("memorization", {"invert": True, "double": True}, Difficulty(8)),
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("task", "options", "goal"), TASKS)
def test_a_prompt_holds_all_that_is_needed(task: str, options: dict[str, object], goal: Difficulty, form: Form) -> None:
    """Reader and oracle know nothing but the prompt."""
    source = Source(make_task(task, options), goal, "test", 3)
    for row in source.rows(stop=20):
        prompt = prompt_for(source, row.sample.input, form, 2 if form == "work" else None)
        for text in (prompt.messages[-1]["content"], prompt.text):
            assert question_of(text) == row.sample.input
            assert truth_of(text) == row.sample.target
        assert prompt.version == PROMPT_VERSION


@pytest.mark.parametrize("split", ["train", "test"])
@pytest.mark.parametrize(("task", "options", "goal"), [*TASKS, ("addition", {}, Difficulty(1))])
def test_examples_are_of_train_and_never_the_question(
    task: str, options: dict[str, object], goal: Difficulty, split: str
) -> None:
    source = Source(make_task(task, options), goal, split, 3)  # type: ignore[arg-type]
    for row in source.rows(stop=40):
        examples = draw_examples(source, row.sample.input)
        assert len({example.input for example in examples}) == 3
        for example in examples:
            assert example.input != row.sample.input
            assert split_of(task, source.task.plain(example.input)) == "train"
            assert source.task.solve(example.input) == example.target
        asked = prompt_for(source, row.sample.input, "examples").messages
        assert [message["role"] for message in asked] == ["user", "assistant"] * 3 + ["user"]


def test_the_question_is_dropped_from_given_examples() -> None:
    task = make_task("addition", {})
    source = Source(task, Difficulty(3), "train")
    samples = [row.sample for row in source.rows(stop=3)]
    prompt = make_prompt(task, samples[1].input, "examples", examples=samples)
    assert prompt.text.count(samples[1].input) == 1


def test_worked_examples_end_in_an_answer_that_is_read() -> None:
    source = Source(make_task("program", {}), Difficulty(4, 3), "test")
    question = source.row(0).sample.input
    prompt = prompt_for(source, question, "work", 2)
    for example, message in zip(draw_examples(source, question, 2), prompt.messages[1::2], strict=True):
        assert message["content"].startswith("line 1: ")
        assert extract_answer(message["content"]) == example.target


def test_what_cannot_be_asked() -> None:
    source = Source(make_task("addition", {}), Difficulty(3), "test", scramble=1)
    with pytest.raises(ExeclabError, match="scrambled"):
        prompt_for(source, source.row(0).sample.input)
    with pytest.raises(ExeclabError, match="choose plain, examples, work"):
        make_prompt(make_task("addition", {}), "print(1+2)", "long")  # type: ignore[arg-type]
    with pytest.raises(ExeclabError, match="from 0 to 100"):
        draw_examples(Source(make_task("addition", {}), Difficulty(3)), "", 101)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["chat", "completion"])
def test_sample_shows_it(form: str, kind: str) -> None:
    words = ["sample", "--prompt", form, "--kind", kind, "--count", "2", "--split", "test", "--task", "addition"]
    shown = subprocess.run([sys.executable, "-m", "execlab", *words], capture_output=True, text=True, check=True).stdout
    assert shown.count("Target: ") == 2
    assert "What does this Python program print?" in shown
    assert ("[user]" in shown) == (kind == "chat")
