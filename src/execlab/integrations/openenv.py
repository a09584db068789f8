"""OpenEnv: an environment of one step. `reset(split=..., index=...)` gives a question, `step` the reward of a reply.

A reset without an index goes on with the next row of the split, train unless said otherwise. The same class serves
over HTTP through OpenEnv's own `create_app(ExeclabEnvironment, Reply, Question)`.
"""

from __future__ import annotations

from typing import Any

from execlab.data.dataset import score_answer
from execlab.data.splits import SPLITS
from execlab.errors import ExeclabError, unknown
from execlab.integrations import need
from execlab.integrations.rows import make_source
from execlab.prompts import Form, prompt_for

need("openenv")

from openenv.core.env_server.interfaces import Environment  # noqa: E402
from openenv.core.env_server.types import Action, Observation, State  # noqa: E402
from pydantic import Field  # noqa: E402

TASKS = 1_000_000  # of every split


class Reply(Action):
    """What the model says."""

    text: str


class Question(Observation):
    """What the model is asked; after its reply the reward, and the answer in the metadata."""

    prompt: str = ""
    messages: list[dict[str, str]] = Field(default_factory=list)


class ExeclabEnvironment(Environment[Reply, Question, State]):
    """Questions of one task and difficulty."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(
        self, task: str = "program", length: int = 4, nesting: int = 1, seed: int = 0, form: Form = "plain"
    ) -> None:
        super().__init__()
        self.task, self.length, self.nesting, self.seed, self.form = task, length, nesting, seed, form
        self.next: dict[str, int] = dict.fromkeys(SPLITS, 0)
        self.answer: str | None = None
        self._state = State()
        self._row("train", 0)  # refuses what cannot be drawn

    def _row(self, split: Any, index: int, seed: int | None = None) -> dict[str, Any]:
        if split not in SPLITS:
            raise unknown("split", split, SPLITS)
        if not 0 <= index < TASKS:
            raise IndexError(f"index is {index}; it must be from 0 to {TASKS - 1:,}")
        source = make_source(self.task, self.length, self.nesting, split, self.seed if seed is None else seed)
        row = source.row(index)
        prompt = prompt_for(source, row.sample.input, self.form)
        about = {"split": split, "index": index, "length": self.length, "nesting": self.nesting}
        return {"prompt": prompt, "answer": row.sample.target, "about": about}

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        *,
        split: str = "train",
        index: int | None = None,
        **_: Any,
    ) -> Question:
        """A question."""
        if index is None:
            index = self.next.get(split, 0)
            self.next[split] = index + 1
        row = self._row(split, index, seed)
        self.answer = row["answer"]
        self._state = State(episode_id=episode_id, step_count=0)
        prompt = row["prompt"]
        return Question(prompt=prompt.text, messages=list(prompt.messages), metadata=row["about"])

    def step(self, action: Reply, timeout_s: float | None = None, **_: Any) -> Question:
        """The reward of a reply; the episode ends."""
        del timeout_s
        if self.answer is None:
            raise ExeclabError("there is no question to answer; call reset() first")
        reward, answer, self.answer = score_answer(action.text, {"answer": self.answer}), self.answer, None
        self._state.step_count += 1
        return Question(done=True, reward=reward, metadata={"answer": answer})

    @property
    def state(self) -> State:
        """Which episode, how many steps."""
        return self._state

    def list_splits(self) -> list[Any]:
        """The three."""
        return list(SPLITS)

    def num_tasks(self, split: str) -> int:
        """As many as are offered by index; there are more."""
        if split not in SPLITS:
            raise unknown("split", split, SPLITS)
        return TASKS

    def get_task(self, split: str, index: int) -> dict[str, Any]:
        """A question, without its answer."""
        row = self._row(split, index)
        return {"id": f"{split}-{index}", "index": index, "prompt": row["prompt"].text}

    def get_task_range(self, split: str, start: int | None = None, stop: int | None = None) -> list[Any]:
        """Questions start to stop."""
        return [self.get_task(split, index) for index in range(TASKS)[start:stop]]

    def list_tasks(self, split: str) -> list[Any]:
        """The first hundred."""
        return self.get_task_range(split, 0, 100)
