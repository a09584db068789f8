"""What a model answers: with teacher forcing (the paper's way) and free-running, in one pass over the input.

The input is read once. From the state after it, the output is predicted twice: given the correct characters before each
position, and given the model's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from execlab.data.batches import encode
from execlab.data.vocabulary import END_MARK, VOCABULARY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execlab.models import LSTM, State
    from execlab.tasks import Sample

CHUNK = 256  # samples at a time
WAIT = 8  # characters beyond the target and its end mark, for an end mark that does not come
_END = VOCABULARY.index(END_MARK)


class Answer(NamedTuple):
    """What a model printed for one sample.

    `teacher_forced` has one character per output character, the end mark's place included. `free_running` ends before
    the end mark that the model printed; without one it is `WAIT` characters longer than target and end mark.
    """

    teacher_forced: str
    free_running: str
    ended: bool


class Character(NamedTuple):
    """One printed character, its probability, and the likeliest others."""

    character: str
    probability: float
    alternatives: list[tuple[str, float]]


@dataclass(frozen=True)
class Reader:
    """A model and the text that it reads before every sample (empty: it starts from zero)."""

    model: LSTM
    prompt: str = ""

    def start(self, rows: int) -> State:
        """The state in which samples are read."""
        state = self.model.start(1)
        if self.prompt:
            state = self.model.read(_column(self.prompt, self.device), state)[1]
        return tuple(part.expand(-1, rows, -1).contiguous() for part in state)

    @property
    def device(self) -> torch.device:
        """Where the model lives."""
        return self.model.output.device


def _column(text: str, device: torch.device) -> Tensor:
    return torch.from_numpy(encode(text))[:, None].to(device)


@torch.no_grad()
def answer(reader: Reader, samples: Sequence[Sample], *, free_running: bool = True) -> list[Answer]:
    """The model's answers, in the order of the samples."""
    reader.model.eval()
    order = sorted(range(len(samples)), key=lambda i: (len(samples[i].input), i))
    answers: dict[int, Answer] = {}
    for first in range(0, len(order), CHUNK):
        chosen = order[first : first + CHUNK]
        for i, found in zip(chosen, _answer_chunk(reader, [samples[i] for i in chosen], free_running), strict=True):
            answers[i] = found
    return [answers[i] for i in range(len(samples))]


def _answer_chunk(reader: Reader, samples: list[Sample], free_running: bool) -> list[Answer]:
    model, device = reader.model, reader.device
    state = _read_inputs(reader, [sample.input for sample in samples])
    targets = [sample.target + END_MARK for sample in samples]
    longest = max(map(len, targets))

    # Teacher forcing: the end mark of the input, then the correct output without its last character.
    given = "".join((END_MARK + target[:-1]).ljust(longest, END_MARK) for target in targets)
    ids = torch.from_numpy(encode(given).reshape(len(samples), longest).T.copy()).to(device)
    forced = _texts(model(ids, state)[0].argmax(-1))
    if not free_running:
        return [Answer(text[: len(target)], "", False) for text, target in zip(forced, targets, strict=True)]

    # Free-running: every row's own last character, one step at a time. Each row has a limit of its own, so that an
    # answer does not depend on the other rows of its batch.
    limits = [len(target) + WAIT for target in targets]
    printed = []
    last = torch.full((1, len(samples)), _END, device=device)
    done = torch.zeros(len(samples), dtype=torch.bool, device=device)
    for _ in range(max(limits)):
        logits, state = model(last, state)
        last = logits.argmax(-1)
        printed.append(last)
        done |= last[0] == _END
        if bool(done.all()):
            break
    free = [text[:limit] for text, limit in zip(_texts(torch.cat(printed)), limits, strict=True)]
    return [
        Answer(text[: len(target)], own.split(END_MARK)[0], END_MARK in own)
        for text, own, target in zip(forced, free, targets, strict=True)
    ]


def _read_inputs(reader: Reader, inputs: list[str]) -> State:
    """The state after each input, before its end mark; inputs are sorted by length."""
    state = reader.start(len(inputs))
    shared = len(inputs[0])
    longest = len(inputs[-1])
    table = encode("".join(text.ljust(longest, END_MARK) for text in inputs)).reshape(len(inputs), longest)
    ids = torch.from_numpy(table.T.copy()).to(reader.device)
    if shared:
        state = reader.model.read(ids[:shared], state)[1]
    lengths = [len(text) for text in inputs]
    ended: list[State] = []
    for place in range(shared, longest):
        if count := lengths.count(place):  # those that end here are the first of what is left
            ended.append(tuple(part[:, :count] for part in state))
            state = tuple(part[:, count:].contiguous() for part in state)
        state = reader.model.read(ids[place : place + 1, -state[0].shape[1] :], state)[1]
    return tuple(torch.cat(parts, dim=1) for parts in zip(*ended, state, strict=True))


def _texts(ids: Tensor) -> list[str]:
    """Rows of text from ids (T, B)."""
    return ["".join(VOCABULARY[i] for i in row) for row in ids.T.tolist()]


@torch.no_grad()
def spell(
    reader: Reader,
    input: str,
    *,
    target: str | None = None,
    longest: int = 250,
    others: int = 3,
    states: list[State] | None = None,
) -> list[Character]:
    """Each printed character with its probability: teacher-forced if a target is given, else free-running.

    `states`, if given, collects the model's state after every character that it reads, its own ones included.
    """
    model = reader.model.eval()
    state = reader.start(1)
    if states is not None:
        for character in input:
            state = model.read(_column(character, reader.device), state)[1]
            states.append(state)
    elif input:
        state = model.read(_column(input, reader.device), state)[1]
    characters: list[Character] = []
    last = END_MARK
    for place in range(len(target) + 1 if target is not None else longest):
        logits, state = model(_column(last, reader.device), state)
        if states is not None:
            states.append(state)
        probabilities = logits[0, 0].float().softmax(-1)
        best = probabilities.topk(others + 1)
        ranked = [(VOCABULARY[i], p) for i, p in zip(best.indices.tolist(), best.values.tolist(), strict=True)]
        characters.append(Character(*ranked[0], ranked[1:]))
        if target is None and ranked[0][0] == END_MARK:
            break
        last = ranked[0][0] if target is None else (target + END_MARK)[place]
    return characters
