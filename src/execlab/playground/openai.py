"""The same models behind the OpenAI protocol, so that harnesses for language models can ask them: /v1/models,
/v1/completions and /v1/chat/completions.

A model reads the last input in the prompt (`execlab.prompts.question_of`) and replies with what it prints. Two built-in
models check a harness's set-up: `oracle` replies with the truth, `off-by-one` with 1 more. A token is a character.
Sampling parameters are accepted and have no effect: the likeliest character is printed. Limits are those of the server.
"""

from __future__ import annotations

import json
import secrets
from typing import TYPE_CHECKING, Any, Literal

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, Field

from execlab.errors import ExeclabError
from execlab.playground.schemas import MAX_INPUT, Problem
from execlab.prompts import question_of, truth_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execlab.playground.limits import Work
    from execlab.playground.store import ModelStore

ORACLE, OFF_BY_ONE = "oracle", "off-by-one"
MAX_PROMPTS = 64  # of one request
MAX_TEXT = 16_384  # characters of a prompt
MAX_TOKENS = 1_000


class Part(BaseModel):
    """A part of a message."""

    type: Literal["text"]
    text: str = Field(max_length=MAX_TEXT)


class Message(BaseModel):
    """A message of a chat."""

    role: Literal["system", "developer", "user", "assistant"]
    content: str | list[Part] = Field(max_length=MAX_TEXT)

    @property
    def text(self) -> str:
        """The whole content."""
        return self.content if isinstance(self.content, str) else "\n".join(part.text for part in self.content)


class StreamOptions(BaseModel):
    """What a stream brings besides the reply."""

    include_usage: bool = False


class Asked(BaseModel):
    """What both kinds of request share; everything else that clients send has no effect."""

    model: str = Field(max_length=200, examples=[ORACLE])
    stream: bool = False
    stream_options: StreamOptions | None = None
    n: Literal[1] | None = None
    stop: str | list[str] | None = Field(None, max_length=100)
    max_tokens: int | None = Field(None, ge=1, le=2**31)


class Chat(Asked):
    """A request for the next message."""

    messages: list[Message] = Field(min_length=1, max_length=500)
    max_completion_tokens: int | None = Field(None, ge=1, le=2**31)


class Completion(Asked):
    """A request to go on with texts."""

    prompt: str | list[str] = Field(max_length=MAX_TEXT, min_length=1)


class Listed(BaseModel):
    """A model."""

    id: str
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: Literal["execlab"] = "execlab"


class Models(BaseModel):
    """The models that can be asked."""

    object: Literal["list"] = "list"
    data: list[Listed]


class Reply(BaseModel):
    """A printed text, and why it ends."""

    read: int
    text: str
    finish_reason: Literal["stop", "length"]


RESPONSES: dict[int | str, dict[str, Any]] = {
    400: {"model": Problem, "description": "The prompt holds no input that the model can read."},
    404: {"model": Problem, "description": "There is no such model."},
}


def router(store: ModelStore, work: Work) -> APIRouter:
    """The routes below /v1."""
    routes = APIRouter(prefix="/v1")

    def replies(asked: Asked, texts: list[str], most: int | None) -> list[Reply]:
        return [_cut(asked, *_ask(store, asked.model, text), most) for text in texts]

    @routes.get("/models", operation_id="openai_models")
    async def models() -> Models:
        """The built-in models, those that ship with execlab, and those of runs."""
        listed = await work.do(store.listed)
        return Models(data=[Listed(id=name) for name in (ORACLE, OFF_BY_ONE, *(model.id for model in listed))])

    @routes.post("/chat/completions", operation_id="openai_chat", responses=RESPONSES)
    async def chat(asked: Chat) -> Response:
        """The reply to the last message of the user."""
        text = next((message.text for message in reversed(asked.messages) if message.role == "user"), None)
        if text is None:
            return _refused(400, "there is no message of the user")
        most = asked.max_completion_tokens or asked.max_tokens
        return await _answered(lambda: replies(asked, [text], most), asked, "chat.completion")

    @routes.post("/completions", operation_id="openai_completions", responses=RESPONSES)
    async def completions(asked: Completion) -> Response:
        """What follows each of the prompts."""
        texts = [asked.prompt] if isinstance(asked.prompt, str) else asked.prompt
        if len(texts) > MAX_PROMPTS:
            return _refused(400, f"{len(texts)} prompts in one request; at most {MAX_PROMPTS} are answered")
        return await _answered(lambda: replies(asked, texts, asked.max_tokens), asked, "text_completion")

    async def _answered(run: Any, asked: Asked, kind: str) -> Response:
        try:
            done = await work.do(run)
        except KeyError:
            return _refused(404, "there is no such model; /v1/models lists them")
        except ExeclabError as error:
            return _refused(400, str(error))
        about = {"id": f"execlab-{secrets.token_hex(8)}", "created": 0, "model": asked.model}
        if asked.stream:
            return StreamingResponse(_streamed(about, asked, kind, done), media_type="text/event-stream")
        choices = [_choice(kind, i, reply.text, reply.finish_reason) for i, reply in enumerate(done)]
        return JSONResponse({**about, "object": kind, "choices": choices, "usage": _usage(done)})

    return routes


def _ask(store: ModelStore, model: str, text: str) -> tuple[int, str]:
    """How many characters of a prompt a model reads, and what it prints."""
    question = question_of(text)
    if len(question) > MAX_INPUT:
        raise ExeclabError(f"the input in the prompt has {len(question):,} characters; at most {MAX_INPUT:,} are read")
    if model == ORACLE:
        return len(question), truth_of(text)
    if model == OFF_BY_ONE:
        truth = truth_of(text)
        return len(question), str(int(truth) + 1).zfill(len(truth) * (truth[0] == "0"))
    executor = store.get(model)
    # Of strings of digits a model wants the plain ones: it makes its own modifications.
    plain = question if executor.config.make_task().is_python else truth_of(text)
    return len(question), executor.predict(plain).prediction


def _cut(asked: Asked, read: int, text: str, most: int | None) -> Reply:
    """What is printed before the first stop, and no more than is asked for."""
    for stop in [asked.stop] if isinstance(asked.stop, str) else asked.stop or []:
        text = text.partition(stop)[0] if stop else text
    most = min(most or MAX_TOKENS, MAX_TOKENS)
    return Reply(read=read, text=text[:most], finish_reason="length" if len(text) > most else "stop")


def _choice(kind: str, index: int, text: str, reason: str | None) -> dict[str, Any]:
    if kind == "chat.completion":
        content: dict[str, Any] = {"message": {"role": "assistant", "content": text}}
    elif kind == "chat.completion.chunk":
        content = {"delta": {"role": "assistant", "content": text} if text else {}}
    else:
        content = {"text": text}
    return {"index": index, **content, "finish_reason": reason, "logprobs": None}


def _usage(replies: list[Reply]) -> dict[str, int]:
    read, printed = sum(reply.read for reply in replies), sum(len(reply.text) for reply in replies)
    return {"prompt_tokens": read, "completion_tokens": printed, "total_tokens": read + printed}


def _streamed(about: dict[str, Any], asked: Asked, kind: str, replies: list[Reply]) -> Iterator[str]:
    """Server-sent events: a chunk per character, one that says why it ends, the usage if asked for, and [DONE]."""
    kind = f"{kind}.chunk" if kind == "chat.completion" else kind
    for i, reply in enumerate(replies):
        for character in reply.text:
            yield _event({**about, "object": kind, "choices": [_choice(kind, i, character, None)]})
        yield _event({**about, "object": kind, "choices": [_choice(kind, i, "", reply.finish_reason)]})
    if asked.stream_options and asked.stream_options.include_usage:
        yield _event({**about, "object": kind, "choices": [], "usage": _usage(replies)})
    yield "data: [DONE]\n\n"


def _event(content: dict[str, Any]) -> str:
    return f"data: {json.dumps(content)}\n\n"


def _refused(status: int, sentence: str) -> JSONResponse:
    """A problem as this server writes it, and as OpenAI's clients read it."""
    error = {"message": sentence, "type": "invalid_request_error", "param": None, "code": None}
    return JSONResponse({"detail": sentence, "line": None, "column": None, "error": error}, status_code=status)
