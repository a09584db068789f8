"""The OpenAI protocol of the server: what is sent back, what is refused, and that networks reply what they print."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from serving import get, post, serving

import execlab
from execlab.data.sampling import Source
from execlab.prompts import FORMS, prompt_for
from execlab.tasks import Difficulty, make_task

if TYPE_CHECKING:
    from collections.abc import Iterator

    from serving import Server

BASELINE = "addition-4-baseline"


@pytest.fixture(scope="module")
def plain_server() -> Iterator[Server]:
    with serving() as server:
        yield server


def chat(server: Server, model: str, content: str, **more: Any) -> Any:
    return post(server, "/v1/chat/completions", model=model, messages=[{"role": "user", "content": content}], **more)


def test_the_models_are_listed(plain_server: Server) -> None:
    listed = [model["id"] for model in get(plain_server, "/v1/models").json()["data"]]
    assert listed[:2] == ["oracle", "off-by-one"]
    assert set(listed[2:]) == {model["id"] for model in get(plain_server, "/api/models").json()}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("task", "options", "goal"),
    [
        ("program", {"layout": "indented"}, Difficulty(4, 3)),
        ("memorization", {"invert": True, "double": True}, Difficulty(6)),
    ],
)
def test_the_oracle_is_right_and_its_neighbour_wrong(
    plain_server: Server, form: Any, task: str, options: dict[str, object], goal: Difficulty
) -> None:
    source = Source(make_task(task, options), goal, "test")
    for row in source.rows(stop=3):
        prompt = prompt_for(source, row.sample.input, form, None)
        asked = {"model": "oracle", "messages": prompt.messages}
        reply = post(plain_server, "/v1/chat/completions", **asked).json()
        assert reply["choices"][0]["message"]["content"] == row.sample.target
        assert reply["choices"][0]["finish_reason"] == "stop"
        reply = post(plain_server, "/v1/completions", model="oracle", prompt=[prompt.text, prompt.text]).json()
        assert [choice["text"] for choice in reply["choices"]] == [row.sample.target] * 2
        wrong = post(plain_server, "/v1/completions", model="off-by-one", prompt=prompt.text).json()
        assert int(wrong["choices"][0]["text"]) == int(row.sample.target) + 1


def test_a_network_replies_what_it_predicts(plain_server: Server) -> None:
    for text in ("print(1234+4321)", "print(9999+1)"):
        said = post(plain_server, "/api/predict", model=BASELINE, input=text).json()["prediction"]
        reply = chat(plain_server, BASELINE, f"What is it?\n```python\n{text}\n```").json()
        assert reply["choices"][0]["message"]["content"] == said
        assert reply["usage"]["completion_tokens"] == len(said)


def test_an_inverted_network_is_given_the_plain_digits(plain_server: Server) -> None:
    task = make_task("memorization", {"invert": True})
    source = Source(task, Difficulty(20), "test")
    sample = source.row(0).sample
    reply = chat(plain_server, "memorization-20", prompt_for(source, sample.input).messages[-1]["content"]).json()
    assert reply["choices"][0]["message"]["content"] == sample.target  # the network is right 399 times of 400


def test_streams_end_as_clients_expect(plain_server: Server) -> None:
    options = {"stream": True, "stream_options": {"include_usage": True}}
    reply = chat(plain_server, "oracle", "print(1234+4321)", **options)
    assert reply.headers["content-type"].startswith("text/event-stream")
    events = reply.text.split("\n\n")
    assert events[-2:] == ["data: [DONE]", ""]
    chunks = [json.loads(event.removeprefix("data: ")) for event in events[:-2]]
    assert "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks[:-1]) == "5555"
    assert chunks[-2]["choices"][0]["finish_reason"] == "stop"
    assert chunks[-1]["usage"]["completion_tokens"] == 4


def test_stops_and_limits(plain_server: Server) -> None:
    cut = chat(plain_server, "oracle", "print(1234+4322)", stop=["6"]).json()["choices"][0]
    assert cut["message"]["content"] == "555"
    cut = chat(plain_server, "oracle", "print(1234+4321)", max_tokens=2, temperature=0.7, seed=3).json()["choices"][0]
    assert (cut["message"]["content"], cut["finish_reason"]) == ("55", "length")


@pytest.mark.parametrize(
    ("body", "status", "sentence"),
    [
        ({"model": "gpt", "prompt": "print(1+2)"}, 404, "there is no such model"),
        ({"model": "oracle", "prompt": "hello"}, 400, "this statement is not allowed"),
        ({"model": BASELINE, "prompt": "print(1!=2)"}, 400, "does not know"),
        ({"model": "oracle", "prompt": "print(1+1)" + " " * 3_000 + "\n#"}, 400, "at most 2,000 are read"),
        ({"model": "oracle", "prompt": ["print(1)"] * 65}, 400, "at most 64"),
        ({"model": "oracle", "prompt": "print(1)", "n": 2}, 422, "n"),
        ({"model": "oracle", "prompt": "print(1)", "max_tokens": 0}, 422, "max_tokens"),
        ({"model": "../oracle", "prompt": "print(1)"}, 404, "there is no such model"),
        ({"model": "oracle", "prompt": "x" * 20_000}, 413, "too large"),
    ],
)
def test_what_is_refused(plain_server: Server, body: dict[str, Any], status: int, sentence: str) -> None:
    reply = post(plain_server, "/v1/completions", **body)
    assert reply.status_code == status
    assert sentence in reply.json()["detail"]
    if status in (400, 404):
        assert sentence in reply.json()["error"]["message"]


def test_the_replies_score_as_the_evaluation_does(plain_server: Server) -> None:
    """A network that is often wrong, over the protocol and asked directly, on the same rows."""
    from execlab.evaluation.decoding import answer
    from execlab.evaluation.scores import exact, is_right
    from execlab.playground.store import SHIPPED
    from execlab.training.load import load

    executor = load(SHIPPED / f"{BASELINE}.safetensors")
    source = Source(executor.config.make_task(), Difficulty(4), "test", purpose="evaluate")
    rows = [row.sample for row in source.rows(stop=64)]
    answers = answer(executor.reader, rows)
    truth = exact([is_right(sample, each) for sample, each in zip(rows, answers, strict=True)]).value
    asked = [prompt_for(source, sample.input).text for sample in rows]
    reply = post(plain_server, "/v1/completions", model=BASELINE, prompt=asked).json()
    scores = [
        execlab.score_answer(choice["text"], {"answer": sample.target})
        for choice, sample in zip(reply["choices"], rows, strict=True)
    ]
    assert sum(scores) / 64 == truth
    assert 0 < truth < 1
