"""What a model answers: with teacher forcing (the paper's way) and free-running, in one pass over the input.

The input is read once. From the state after it, the output is predicted twice: given the correct characters before each
position, and given the model's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from execlab.data.batches import pack_texts
from execlab.data.splits import DATA_VERSION
from execlab.data.vocabulary import END_MARK, VOCABULARY
from execlab.models.model import last_places

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execlab.models.model import Model, State
    from execlab.tasks import Sample

CHUNK = 256  # samples at a time
WAIT = 8  # characters beyond the target and its end mark, for an end mark that does not come


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

    model: Model
    prompt: str = ""
    vocabulary: str = VOCABULARY
    data_version: int = DATA_VERSION  # of the samples that it was trained on

    def start(self, rows: int) -> State:
        """The state in which samples are read."""
        if not self.prompt:
            return self.model.start(rows)
        state = self.read([self.prompt], self.model.start(1))[1]
        return self.model.select(state, torch.zeros(rows, dtype=torch.int64, device=self.device))

    def read(self, texts: Sequence[str], state: State) -> tuple[Tensor, State]:
        """Read texts, longest first: features of all characters, packed, and the state after each text."""
        ids, batch_sizes = (torch.from_numpy(array) for array in pack_texts(texts, self.vocabulary))
        features, after = self.model(ids.to(self.device), batch_sizes, state)
        return features, after

    @property
    def device(self) -> torch.device:
        """Where the model lives."""
        return next(self.model.parameters()).device


@torch.no_grad()
def answer(reader: Reader, samples: Sequence[Sample], *, free_running: bool = True) -> list[Answer]:
    """The model's answers, in the order of the samples."""
    reader.model.eval()
    order = sorted(range(len(samples)), key=lambda i: (-len(samples[i].input), i))
    answers: dict[int, Answer] = {}
    for first in range(0, len(order), CHUNK):
        chosen = order[first : first + CHUNK]
        for i, printed in zip(chosen, _answer_chunk(reader, [samples[i] for i in chosen], free_running), strict=True):
            answers[i] = printed
    return [answers[i] for i in range(len(samples))]


def _answer_chunk(reader: Reader, samples: list[Sample], free_running: bool) -> list[Answer]:
    """Answers to samples whose inputs are ordered by length, longest first."""
    texts = [sample.input + END_MARK for sample in samples]  # the end mark asks for output
    features, state = reader.read(texts, reader.start(len(samples)))
    last = last_places(torch.from_numpy(pack_texts(texts)[1])).to(reader.device)
    first = reader.model.logits(features.index_select(0, last)).argmax(-1)
    forced = _teacher_forced(reader, samples, first, state)
    if not free_running:
        return [Answer(text, "", False) for text in forced]
    free = _free_running(reader, [len(sample.target) + 1 + WAIT for sample in samples], first, state)
    return [Answer(text, own.split(END_MARK)[0], END_MARK in own) for text, own in zip(forced, free, strict=True)]


def _teacher_forced(reader: Reader, samples: list[Sample], first: Tensor, state: State) -> list[str]:
    """What is printed given the correct characters before each one; `first` is given none."""
    texts = [reader.vocabulary[number] for number in first.tolist()]
    order = sorted((i for i, sample in enumerate(samples) if sample.target), key=lambda i: -len(samples[i].target))
    if not order:
        return texts
    targets = [samples[i].target for i in order]
    features, _ = reader.read(targets, reader.model.select(state, torch.tensor(order, device=reader.device)))
    following = iter(reader.model.logits(features).argmax(-1).tolist())
    for count in pack_texts(targets)[1].tolist():
        for i in order[:count]:
            texts[i] += reader.vocabulary[next(following)]
    return texts


def _free_running(reader: Reader, limits: list[int], first: Tensor, state: State) -> list[str]:
    """What is printed given the model's own characters. Each row has a limit of its own and is dropped when it has
    ended, so that an answer does not depend on the other rows of its batch."""
    printed = [reader.vocabulary[number] for number in first.tolist()]
    rows, last = list(range(len(limits))), first
    while True:
        kept = [i for i, row in enumerate(rows) if printed[row][-1] != END_MARK and len(printed[row]) < limits[row]]
        if not kept:
            return printed
        if len(kept) < len(rows):
            chosen = torch.tensor(kept, device=reader.device)
            state, last, rows = reader.model.select(state, chosen), last[chosen], [rows[i] for i in kept]
        features, state = reader.model(last, torch.tensor([len(rows)]), state)
        last = reader.model.logits(features).argmax(-1)
        for row, number in zip(rows, last.tolist(), strict=True):
            printed[row] += reader.vocabulary[number]


@torch.no_grad()
def spell(
    reader: Reader,
    input: str,
    *,
    target: str | None = None,
    longest: int = 250,
    others: int = 3,
    activations: list[dict[str, Tensor]] | None = None,
) -> list[Character]:
    """Each printed character with its probability: teacher-forced if a target is given, else free-running.

    `activations`, if given, collects what the model lets see after every character that it reads, its own included.
    """
    model = reader.model.eval()
    state = reader.start(1)
    if activations is not None:
        for character in input:
            state = reader.read([character], state)[1]
            activations.append(model.activations(state))
    elif input:
        state = reader.read([input], state)[1]
    characters: list[Character] = []
    last = END_MARK
    for place in range(len(target) + 1 if target is not None else longest):
        features, state = reader.read([last], state)
        if activations is not None:
            activations.append(model.activations(state))
        probabilities = model.logits(features)[0].float().softmax(-1)
        best = probabilities.topk(others + 1)
        ranked = [(reader.vocabulary[i], p) for i, p in zip(best.indices.tolist(), best.values.tolist(), strict=True)]
        characters.append(Character(*ranked[0], ranked[1:]))
        if target is None and ranked[0][0] == END_MARK:
            break
        last = ranked[0][0] if target is None else (target + END_MARK)[place]
    return characters
