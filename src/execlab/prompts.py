"""What a language model is asked: an instruction for every task, in three forms, for chat and for completion.

`plain` asks for the output alone. `examples` shows worked examples before; they come from the train split and are never
the question itself. `work` asks to show the work and to end with the answer. Every form ends in something that
`execlab.answers.extract_answer` reads. The wording has a version: scores under different versions do not compare.

>>> from execlab.tasks.addition import AdditionTask
>>> prompt = make_prompt(AdditionTask(), "print(17+25)")
>>> print(prompt.messages[-1]["content"])
What does this Python program print? Reply with the number alone.
<BLANKLINE>
```python
print(17+25)
```
>>> print(prompt.text)
What does this Python program print? Reply with the number alone.
<BLANKLINE>
Input:
print(17+25)
Output:
>>> question_of(prompt.text) == question_of(prompt.messages[-1]["content"]) == "print(17+25)"
True
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Literal, get_args

from execlab.data.export import Shape
from execlab.data.sampling import Source
from execlab.errors import ExeclabError, unknown
from execlab.programs import trace
from execlab.tasks import make_task

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execlab.data.sampling import Row
    from execlab.tasks import Difficulty, Sample, Task

PROMPT_VERSION = 1
EXAMPLES = 3
MOST_EXAMPLES = 100
LINES = 50  # of an example's work

Form = Literal["plain", "examples", "work"]
FORMS: tuple[Form, ...] = get_args(Form)
STOP = ("\n\nInput:",)  # where a completion of `Prompt.text` ends

_ALONE = "Reply with the number alone."
_WORK = "Work through it step by step, then end your reply with a line of the form\nAnswer: NUMBER"
_INPUT, _OUTPUT, _STEPS = "Input:\n", "\nOutput:", "\nWork:"


@dataclass(frozen=True)
class Prompt:
    """A question in both forms, and the answer that counts."""

    messages: tuple[dict[str, str], ...]  # for chat
    text: str  # for completion
    form: Form = "plain"
    version: int = PROMPT_VERSION
    stop: tuple[str, ...] = STOP  # where a completion ends


def instruction(task: Task) -> str:
    """What is to be done with an input, in one or two sentences."""
    if task.name == "memorization":
        given = "These digits are written in reverse order" if getattr(task, "invert", False) else "These are digits"
        given += ", twice, with a semicolon between" * bool(getattr(task, "double", False))
        order = " in the original order" * bool(getattr(task, "invert", False))
        return f"{given}. What are the digits{order}? Keep leading zeros."
    if task.is_python:
        modulus = getattr(task, "modulus", 0)
        last = f" Give the result modulo {10**modulus}." if modulus else ""
        return f"What does this Python program print?{last}"
    return f"What is the output of the task {task.name} for this input?"


def make_prompt(task: Task, question: str, form: Form = "plain", *, examples: Sequence[Sample] | None = None) -> Prompt:
    """The prompt for a question; `examples` are those of the form `examples` (and of `work`, if any are given)."""
    if form not in FORMS:
        raise unknown("form of a prompt", form, FORMS)
    shown = [sample for sample in examples or () if task.plain(sample.input) != task.plain(question)]
    if form == "examples" and not shown:
        raise ExeclabError("the form examples needs examples; draw them with execlab.prompts.draw_examples")
    if form == "plain":
        shown = []
    works = form == "work"
    asked = f"{instruction(task)} {_WORK if works else _ALONE}"
    language = "python" if task.is_python else ""
    messages, text = [], f"{asked}\n\n"
    for sample in [*shown, None]:
        read = question if sample is None else sample.input
        messages.append({"role": "user", "content": f"{asked}\n\n```{language}\n{read}\n```"})
        text += f"{_INPUT}{read}{_STEPS if works else _OUTPUT}"
        if sample is not None:
            work = f"{show_work(task, sample)}\nAnswer: " if works else ""
            messages.append({"role": "assistant", "content": f"{work}{sample.target}"})
            text += f"{chr(10) if works else ' '}{work}{sample.target}\n\n"
    return Prompt(tuple(messages), text, form)


def draw_examples(source: Source, question: str = "", count: int = EXAMPLES) -> list[Sample]:
    """The first samples of the train split with the source's description that are not the question."""
    if not 0 <= count <= MOST_EXAMPLES:
        raise ExeclabError(f"{count} examples are asked for; it must be from 0 to {MOST_EXAMPLES}")
    if count == 0:
        return []
    task, plain = source.task, source.task.plain(question) if question else None
    shown: dict[str, Sample] = {}
    for sample in _of_train(task, source.goal, source.seed, source.strategy):
        if task.plain(sample.input) != plain:
            shown.setdefault(sample.input, sample)
        if len(shown) == count:
            break
    return list(shown.values())


@lru_cache(maxsize=256)
def _of_train(task: Task, goal: Difficulty, seed: int, strategy: str) -> tuple[Sample, ...]:
    """Samples to take examples from; at the easiest difficulties they repeat."""
    train = Source(task, goal, "train", seed, strategy, purpose="examples")
    return tuple(row.sample for row in train.rows(stop=4 * MOST_EXAMPLES))


def prompt_for(source: Source, question: str, form: Form = "plain", count: int | None = None) -> Prompt:
    """The prompt for a sample of a source, examples included; `count` is how many (3 for the form `examples`)."""
    if source.scramble is not None:
        raise ExeclabError(
            "scrambled samples cannot be asked of a language model: no instruction says how to read them"
        )
    count = EXAMPLES * (form == "examples") if count is None else count
    return make_prompt(source.task, question, form, examples=draw_examples(source, question, count))


def show_work(task: Task, sample: Sample) -> str:
    """The interpreter's trace as text: each executed line and the variables after it; of other tasks the target."""
    if not task.is_python:
        return " ".join(sample.target)
    lines = sample.input.split("\n")
    steps = list(islice(trace(sample.input), LINES + 1))
    shown = [
        f"line {step.line}: {lines[step.line - 1].strip()} -> "
        + (", ".join(f"{name}={value}" for name, value in step.variables.items()) or "no variables")
        for step in steps[:LINES]
    ]
    return "\n".join([*shown, *(["..."] if len(steps) > LINES else [])])


# Rows of an exported dataset -----------------------------------------------------------------------------------------


def chat_rows(form: Form, count: int | None = None) -> Shape:
    """Rows for training a chat model: the prompt's messages, the answer, where the sample comes from."""

    def record(source: Source, row: Row) -> dict[str, object]:
        about = source.record(row)
        question, target = str(about.pop("input")), str(about.pop("target"))
        prompt = prompt_for(source, question, form, count)
        about |= {"question": question, "prompt_form": form, "prompt_version": PROMPT_VERSION}
        return {"prompt": list(prompt.messages), "answer": target, "metadata": about}

    return Shape(
        record,
        f"`prompt` holds the messages of a chat in the form *{form}*, version {PROMPT_VERSION}; examples come from the "
        "train split. Score a reply with `execlab.score_answer(reply, row)`.",
    )


def with_work(shape: Shape | None) -> Shape:
    """The same rows with a column `scratchpad`: the interpreter's trace."""

    def record(source: Source, row: Row) -> dict[str, object]:
        if source.scramble is not None:
            raise ExeclabError("scrambled samples have no trace; leave out --trace or --scramble")
        plain = source.record(row) if shape is None else shape.record(source, row)
        return {**plain, "scratchpad": show_work(source.task, row.sample)}

    about = "`scratchpad` is the interpreter's trace: each executed line and the variables after it."
    return Shape(record, about if shape is None else f"{shape.about}\n\n{about}")


# What execlab's own networks and its oracle read ------------------------------------------------------------

_BLOCK = re.compile(r"```[^\n`]*\n([^`]*?)\n?```")


def question_of(text: str) -> str:
    """The last input in a prompt: in a fenced block, after `Input:`, or all of the text."""
    blocks = _BLOCK.findall(text)
    if blocks:
        return str(blocks[-1])
    _, mark, rest = text.rpartition(_INPUT)
    if not mark:
        return text.strip()
    return min((rest.partition(end)[0] for end in (_OUTPUT, _STEPS)), key=len).strip("\n")


def truth_of(text: str) -> str:
    """The true answer to a prompt: what the interpreter prints, or the digits in the order that is asked for."""
    question = question_of(text)
    if re.fullmatch(r"[0-9]+(;[0-9]+)?", question):
        return make_task("memorization", {"invert": "reverse order" in text, "double": ";" in question}).solve(question)
    modulo = re.search(r"Give the result modulo 10*\.", text)
    options = {"modulus": modulo[0].count("0")} if modulo else {}
    return make_task("program", options).solve(question)
