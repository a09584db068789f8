"""The extraction of answers: the table of replies as written, and nothing to gain by hedging."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from replies import REPLIES

import execlab
from execlab.answers import extract_answer


@pytest.mark.parametrize(("reply", "answer"), REPLIES)
def test_the_table(reply: str, answer: str | None) -> None:
    assert extract_answer(reply) == answer


def test_the_table_is_large_and_without_repetition() -> None:
    assert len(REPLIES) >= 200
    assert not [reply for reply, count in Counter(reply for reply, _ in REPLIES).items() if count > 1]
    assert sum(answer is None for _, answer in REPLIES) >= 80


INTEGERS = st.integers(-(10**9), 10**9).map(str)
# fmt: off
JOINTS = st.sampled_from([
    ",", ", ", ";", "; ", "/", " / ", "|", "-", " - ", "~", "&", "\n", ".\n", "\n\n", "\t", " ", " or ", ", or ",
    " and ", " vs ", " to ", " oder ", " o ", " ou ", " или ", " 或 ", ". Or ",
    ". Maybe ", ", alternatively ", " (or ",
    "? ", " but maybe ", " = ", "</answer><answer>", "</answer> or <answer>", "} \\boxed{",
    "\n```\n```\n", ". If not, ",
    " unless it is ", ", no, ", ". Wait: ", ", else ", "\n- ", "\n* ", "**, **", "` `",
])
# fmt: on
FRAMES = st.sampled_from(
    [
        "{}",
        "Answer: {}",
        "The answer is {}.",
        "the answer is {}",
        "Answers: {}",
        "<answer>{}</answer>",
        "\\boxed{{{}}}",
        "```\n{}\n```",
        "The output is {}",
        "It prints {}",
        "**{}**",
        "`{}`",
        "[{}]",
        "({})",
        "Possible answers: {}",
        "Either {}",
        '{{"answer": [{}]}}',
        "1. {}",
        "#### {}",
        "I would say {}, I think.",
        "Réponse : {}",
        "答案是 {}。",
        "<think>hm</think>{}",
        "The answer is one of {}.",
        "$${}$$",
    ]
)
DOUBTS = st.sampled_from(
    [
        "maybe {}",
        "The answer is perhaps {}.",
        "I'm not sure, but the answer is {}",
        "about {}",
        "The answer is not {}.",
        "The answer is roughly {}.",
        "{}?",
        "The answer is {}? Or something else.",
        "<answer>~{}</answer>",
        "at least {}",
        "\\boxed{{\\approx {}}}",
        "The answer is {}. That might be wrong.",
        "Answer: {} or another number",
        "It could be {}.",
        "{} or so",
        "The answer is {}, unless I made a mistake.",
        "Vielleicht {}",
    ]
)


@st.composite
def hedges(draw: st.DrawFn) -> tuple[str, list[str]]:
    """A reply that lists different numbers, and those numbers."""
    numbers = draw(st.lists(INTEGERS, min_size=2, max_size=8, unique=True))
    listed = numbers[0]
    for number in numbers[1:]:
        listed += draw(JOINTS) + number
    reply = draw(FRAMES).format(listed)
    if draw(st.booleans()):
        reply = f"{draw(st.sampled_from(numbers))}\n{reply}"
    return reply, numbers


@settings(max_examples=1_000, suppress_health_check=list(HealthCheck))
@given(hedges())
def test_no_list_of_numbers_scores(hedge: tuple[str, list[str]]) -> None:
    reply, numbers = hedge
    assert [number for number in numbers if execlab.score_answer(reply, {"answer": number})] == []


@pytest.mark.long
@settings(max_examples=10_000, suppress_health_check=list(HealthCheck))
@given(hedges())
def test_none_of_ten_thousand_lists_scores(hedge: tuple[str, list[str]]) -> None:
    reply, numbers = hedge
    assert [number for number in numbers if execlab.score_answer(reply, {"answer": number})] == []


EXPLICIT = st.sampled_from(
    [
        "Answer: {}",
        "The answer is {}.",
        "<answer>{}</answer>",
        "$\\boxed{{{}}}$",
        "```\n{}\n```",
        "#### {}",
        "It prints {}.",
        "{}",
    ]
)


@settings(max_examples=500)
@given(st.lists(st.tuples(EXPLICIT, INTEGERS), min_size=2, max_size=5, unique_by=lambda pair: pair[1]))
def test_several_explicit_answers_are_none(pairs: list[tuple[str, str]]) -> None:
    reply = "\n\n".join(frame.format(number) for frame, number in pairs)
    assert [number for _, number in pairs if execlab.score_answer(reply, {"answer": number})] == []


@settings(max_examples=500)
@given(DOUBTS, INTEGERS)
def test_no_doubt_scores(doubt: str, number: str) -> None:
    assert execlab.score_answer(doubt.format(number), {"answer": number}) == 0.0


@settings(max_examples=300)
@given(
    st.sampled_from(["{}", "The answer is {}.", "<answer>{}</answer>", "\\boxed{{{}}}", "x = 5 + 3\nAnswer: {}"]),
    INTEGERS,
)
def test_every_integer_is_read(frame: str, number: str) -> None:
    assert extract_answer(frame.format(number)) == number
    assert extract_answer(frame.format(f"{int(number):,}")) == number


@settings(max_examples=500)
@given(st.text(max_size=200))
def test_any_text_gives_an_integer_or_nothing(text: str) -> None:
    answer = extract_answer(text)
    assert answer is None or str(int(answer)).lstrip("-") == (answer.lstrip("-").lstrip("0") or "0")


@pytest.mark.parametrize(
    "unit",
    [
        "<answer>",
        "\\boxed{",
        "answer is ",
        "1,234,",
        "```\n",
        " ",
        "42 ",
        "or ",
        "(",
        "**",
        "<think>",
        "\n \n",
        "print 1",
    ],
)
def test_long_replies_take_no_time(unit: str) -> None:
    """A test that would not end if anything were quadratic."""
    extract_answer(unit * (900_000 // len(unit)))
    assert extract_answer(unit * 1_000_000) is None
