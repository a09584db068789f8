"""Asking an endpoint that speaks the OpenAI protocol: with time limits, retries and back-off, on the standard library.

The key comes from the environment and is sent to the endpoint, nowhere else. A reply that is cut off for its length
counts as it stands; a request that the endpoint refuses for good (401, 404, ...) ends the evaluation with its reason.
"""

from __future__ import annotations

import http.client
import json
import os
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import urlsplit

from execlab.errors import ExeclabError
from execlab.randomness import stream

if TYPE_CHECKING:
    from threading import Event

    from execlab.prompts import Prompt

Api = Literal["chat", "completion"]
LARGEST = 1 << 24  # bytes of an answer that are read
AGAIN = {408, 409, 425, 429, 500, 502, 503, 504, 529}  # what may work later
FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0  # seconds between two tries
LONGEST_SENTENCE = 300


class Reply(NamedTuple):
    """What an endpoint sent: the text, the tokens that it counts, and how many tries it took."""

    text: str
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    tries: int


class StoppedError(Exception):
    """Somebody wants to end."""


@dataclass(frozen=True)
class Endpoint:
    """Where to ask, which model, and how."""

    url: str  # up to /v1
    model: str
    api: Api = "chat"
    key_env: str = "OPENAI_API_KEY"
    timeout: float = 60.0
    tries: int = 8
    max_tokens: int = 1_024

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ExeclabError(f"{self.url[:80]!r} is not the address of an endpoint; write http://localhost:8000/v1")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise ExeclabError(f"keep keys out of the address: put yours into the environment variable {self.key_env}")

    def ask(self, prompt: Prompt, number: int, stop: Event) -> Reply:
        """The reply to a prompt, however often it takes; `number` spreads the waiting times of requests."""
        rng = stream("endpoint", number)
        wait, problem = FIRST_WAIT, ""
        for attempt in range(1, self.tries + 1):
            if stop.is_set():
                raise StoppedError
            begin = time.monotonic()
            try:
                return self._read(self._send(prompt), time.monotonic() - begin, attempt)
            except urllib.error.HTTPError as error:
                problem = f"{error.code} {_reason(error)}"
                if error.code not in AGAIN:
                    raise ExeclabError(f"the endpoint {self.url} refuses: {problem}") from None
                wait = max(wait, _asked_to_wait(error))
            except (OSError, http.client.HTTPException, ValueError) as error:
                problem = f"{type(error).__name__}: {error}"[:LONGEST_SENTENCE]
            if attempt < self.tries and stop.wait(min(wait, LONGEST_WAIT) * (0.5 + rng.random())):
                raise StoppedError
            wait = min(2 * wait, LONGEST_WAIT)
        raise ExeclabError(f"the endpoint {self.url} did not answer in {self.tries} tries; the last: {problem}")

    def _send(self, prompt: Prompt) -> Any:
        body: dict[str, Any] = {"model": self.model, "temperature": 0, "max_tokens": self.max_tokens}
        if self.api == "chat":
            path, body["messages"] = "/chat/completions", list(prompt.messages)
        else:
            path, body["prompt"], body["stop"] = "/completions", prompt.text, list(prompt.stop)
        headers = {"content-type": "application/json", "user-agent": "execlab"}
        if key := os.environ.get(self.key_env):
            headers["authorization"] = f"Bearer {key}"
        request = urllib.request.Request(  # noqa: S310 - the scheme was checked
            self.url.rstrip("/") + path, json.dumps(body).encode(), headers
        )
        with _OPENER.open(request, timeout=self.timeout) as answer:
            data = answer.read(LARGEST)
        return json.loads(data)

    def _read(self, content: Any, seconds: float, attempt: int) -> Reply:
        try:
            choice = content["choices"][0]
            text = choice["message"]["content"] if self.api == "chat" else choice["text"]
            if not isinstance(text, str | None):
                raise TypeError
        except (KeyError, IndexError, TypeError):
            raise ValueError("this is no answer of the OpenAI protocol") from None
        usage = content.get("usage") or {}
        read, printed = (usage.get(name) for name in ("prompt_tokens", "completion_tokens"))
        return Reply(text or "", _whole(read), _whole(printed), seconds, attempt)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """The key must reach nobody but the endpoint that the user has named."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Never."""


_OPENER = urllib.request.build_opener(_NoRedirects)


def _whole(value: object) -> int:
    return value if isinstance(value, int) and value >= 0 else 0


def _asked_to_wait(error: urllib.error.HTTPError) -> float:
    value = error.headers.get("retry-after", "") if error.headers else ""
    return float(value) if value.isdecimal() else 0.0


def _reason(error: urllib.error.HTTPError) -> str:
    """A sentence of an endpoint's refusal."""
    try:
        content = json.loads(error.read(10_000))
        detail = content.get("error", content)
        text = detail.get("message", detail) if isinstance(detail, dict) else detail
    except (OSError, ValueError, AttributeError, http.client.HTTPException):
        text = error.reason
    return " ".join(str(text).split())[:LONGEST_SENTENCE]
