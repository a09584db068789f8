"""The map of a language model: accuracy by length and nesting, over an endpoint, resumable.

A folder holds plan.json (what is asked; never a key) and answers.jsonl (a line per row, written as soon as it is
answered). The same plan in the same folder goes on with the rows that are missing, after Ctrl-C, a crash or a kill.
"""

from __future__ import annotations

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from execlab.answers import extract_answer
from execlab.data.dataset import score_answer
from execlab.data.sampling import Source
from execlab.data.splits import DATA_VERSION, Split
from execlab.errors import ExeclabError
from execlab.evaluation.endpoint import Api, Endpoint, StoppedError
from execlab.evaluation.scores import Score, exact
from execlab.files import open_regular, write_atomically
from execlab.progress import silent
from execlab.prompts import PROMPT_VERSION, Form, prompt_for
from execlab.tasks import Difficulty, make_task

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from execlab.prompts import Prompt

CHARACTERS_PER_TOKEN = 2.5  # of programs, roughly: digits are split finely
WORK_TOKENS, ANSWER_TOKENS = 400, 12  # of a reply, roughly, until the endpoint has counted some
PLAN, ANSWERS = "plan.json", "answers.jsonl"


@dataclass(frozen=True)
class Plan:
    """What is asked of which model."""

    url: str
    model: str
    api: Api
    task: str
    lengths: tuple[int, ...]
    nestings: tuple[int, ...]
    count: int  # of every difficulty
    split: Split = "test"
    seed: int = 0
    form: Form = "plain"
    shots: int | None = None
    max_tokens: int = 1_024
    data_version: int = DATA_VERSION
    prompt_version: int = PROMPT_VERSION

    def __post_init__(self) -> None:
        if not 1 <= self.count <= 1_000_000:
            raise ExeclabError(f"count is {self.count}; it must be from 1 to 1,000,000")
        for difficulty in self.difficulties():
            self.source(difficulty)

    def difficulties(self) -> list[Difficulty]:
        """The cells of the map."""
        return [Difficulty(length, nesting) for nesting in self.nestings for length in self.lengths]

    def source(self, difficulty: Difficulty) -> Source:
        """The rows of a cell: those that `execlab evaluate` draws for a run."""
        return Source(make_task(self.task, {}), difficulty, self.split, self.seed, purpose="evaluate")

    def rows(self) -> Iterator[Asked]:
        """All rows, the cells in turn, so that an unfinished map is even."""
        for index in range(self.count):
            for difficulty in self.difficulties():
                yield Asked(difficulty, index)


class Asked(NamedTuple):
    """A row of the map."""

    difficulty: Difficulty
    number: int


@dataclass(frozen=True)
class Estimate:
    """What is still to be asked, roughly."""

    requests: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    cost: float | None


def read_answers(folder: Path) -> dict[Asked, dict[str, Any]]:
    """The answered rows of a folder; a line that a kill cut off counts as not answered."""
    answers: dict[Asked, dict[str, Any]] = {}
    try:
        with open_regular(folder / ANSWERS) as file:
            for line in file:
                try:
                    row = json.loads(line)
                    key = Asked(Difficulty(row["length"], row["nesting"]), row["index"])
                    row["score"], row["reply"]
                except (ValueError, KeyError, TypeError):
                    continue
                answers.setdefault(key, row)
    except FileNotFoundError:
        pass
    return answers


def settle(plan: Plan, folder: Path) -> None:
    """Write the plan, or see that the folder's is the same."""
    path = folder / PLAN
    content = json.loads(json.dumps(asdict(plan)))
    try:
        with open_regular(path) as file:
            before = json.loads(file.read(1 << 20))
    except FileNotFoundError:
        write_atomically(path, (json.dumps(content, indent=2) + "\n").encode(), root=folder.parent)
        return
    except ValueError:
        raise ExeclabError(f"{path} is not a plan; choose another folder with --out") from None
    # More rows of every difficulty, or more difficulties, are the same plan.
    grown = {"count", "lengths", "nestings"}
    if not isinstance(before, dict) or any(before.get(name) != content[name] for name in content.keys() - grown):
        names = [name for name in content if name not in grown and dict(before).get(name) != content[name]]
        raise ExeclabError(f"{folder} holds answers to another plan ({names[0]} differs); choose another --out")
    write_atomically(path, (json.dumps(content, indent=2) + "\n").encode(), root=folder.parent)


def estimate(
    plan: Plan, todo: list[Asked], concurrency: int, seconds: float, prices: tuple[float, float] | None
) -> Estimate:
    """Tokens, time and cost of the rows to come; `seconds` is what a request takes, prices are per million tokens."""
    tried = [todo[i * len(todo) // min(len(todo), 20)] for i in range(min(len(todo), 20))]
    characters = sum(len(_prompt(plan, asked)[0].text) for asked in tried) / max(len(tried), 1)
    read = round(len(todo) * characters / CHARACTERS_PER_TOKEN)
    printed = len(todo) * min(WORK_TOKENS if plan.form == "work" else ANSWER_TOKENS, plan.max_tokens)
    cost = None if prices is None else (read * prices[0] + printed * prices[1]) / 1e6
    return Estimate(len(todo), read, printed, len(todo) * seconds / concurrency, cost)


def run(
    plan: Plan,
    endpoint: Endpoint,
    folder: Path,
    todo: list[Asked],
    *,
    concurrency: int = 8,
    advance: Callable[[int], None] = silent,
) -> None:
    """Ask for these rows and write every answer down; Ctrl-C waits for no request, and loses none that was answered."""
    stop, lock = threading.Event(), threading.Lock()
    path = folder / ANSWERS
    _end_last_line(path)

    with path.open("ab", buffering=0) as file:

        def one(number: int, asked: Asked) -> None:
            prompt, answer = _prompt(plan, asked)
            reply = endpoint.ask(prompt, number, stop)
            row = {
                **asked.difficulty._asdict(),
                "index": asked.number,
                "score": score_answer(reply.text, {"answer": answer}),
                "extracted": extract_answer(reply.text),
                "answer": answer,
                **reply._asdict(),
            }
            row["reply"] = row.pop("text")
            line = (json.dumps(row) + "\n").encode()
            with lock:
                file.write(line)  # one write: a kill leaves whole lines, and at most one broken one at the end

        pool = ThreadPoolExecutor(concurrency)
        try:
            waiting = [pool.submit(one, number, asked) for number, asked in enumerate(todo)]
            for done in as_completed(waiting):
                done.result()
                advance(1)
        except StoppedError:
            pass
        finally:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)


def probe(plan: Plan, endpoint: Endpoint, folder: Path, asked: Asked) -> float:
    """Ask for one row, which counts as the others do; gives the seconds that it took."""
    begin = time.monotonic()
    run(plan, endpoint, folder, [asked], concurrency=1)
    return time.monotonic() - begin


def accuracies(plan: Plan, answers: dict[Asked, dict[str, Any]]) -> dict[Difficulty, Score]:
    """The share of right rows by difficulty, with intervals."""
    cells: dict[Difficulty, list[bool]] = {}
    for asked in plan.rows():
        if asked in answers:
            cells.setdefault(asked.difficulty, []).append(answers[asked]["score"] == 1.0)
    return {difficulty: exact(cells[difficulty]) for difficulty in plan.difficulties() if difficulty in cells}


def _prompt(plan: Plan, asked: Asked) -> tuple[Prompt, str]:
    source = plan.source(asked.difficulty)
    sample = source.row(asked.number).sample
    return prompt_for(source, sample.input, plan.form, plan.shots), sample.target


def _end_last_line(path: Path) -> None:
    """End a line that a kill cut off, so that the next one stands alone."""
    try:
        with open_regular(path) as file:
            if file.seek(0, 2) == 0:
                return
            file.seek(-1, 2)
            whole = file.read(1) == b"\n"
    except FileNotFoundError:
        return
    if not whole:
        with path.open("ab") as file:
            file.write(b"\n")
