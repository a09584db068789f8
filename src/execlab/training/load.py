"""A trained model to ask: `execlab.load("runs/add4").predict("print(1234+4321)")`."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from execlab import registry
from execlab.data.scramble import scramble, unscramble
from execlab.data.vocabulary import END_MARK, check_characters
from execlab.errors import ExeclabError
from execlab.evaluation.decoding import Character, Reader, spell
from execlab.tasks import Sample
from execlab.training import runs, weights
from execlab.training.prompt import prompt_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from execlab.training.config import Config

LONGEST = 250  # characters of an answer that does not end


@dataclass(frozen=True)
class Prediction:
    """The output of a model, and the true one."""

    input: str  # as the model read it, except for scrambling
    prediction: str
    target: str
    characters: list[Character]
    outside: str | None  # what in it the model was not trained on
    parts: list[str]  # of the prediction: the work, if the model shows it, and last the answer
    true_parts: list[str]

    @property
    def correct(self) -> bool:
        """Whether the answer is right."""
        return self.parts[-1] == self.true_parts[-1]

    @property
    def first_wrong(self) -> int | None:
        """The number of the first part that is wrong, from 1."""
        pairs = enumerate(zip_longest(self.true_parts, self.parts), 1)
        return next((number for number, (true, part) in pairs if true != part), None)


@dataclass(frozen=True)
class Executor:
    """A trained model with the task that it was trained on."""

    config: Config
    reader: Reader
    where: Path

    def predict(
        self,
        text: str,
        *,
        teacher_forced: bool = False,
        others: int = 3,
        activations: list[dict[str, Tensor]] | None = None,
    ) -> Prediction:
        """Ask for the output of a plain input; the run's own modifications are made for you.

        Every character comes with so many `others`; `activations` collects what the model shows
        after every character read.
        """
        sample = self.sample(text)
        seed = self.config.scramble
        vocabulary = self.reader.vocabulary
        seen = sample if seed is None else scramble(seed, sample, vocabulary)
        forced = seen.target if teacher_forced else None
        longest = max(LONGEST, 2 * len(seen.target))
        characters = spell(
            self.reader, seen.input, target=forced, longest=longest, others=others, activations=activations
        )
        if seed is not None:
            characters = [_unscrambled(seed, character, vocabulary) for character in characters]
        text_printed = "".join(character.character for character in characters)
        printed = text_printed.removesuffix(END_MARK) if teacher_forced else text_printed.split(END_MARK)[0]
        task = self.config.make_task()
        outside = task.outside(text, self.config.goal)
        parts = task.parts(printed), task.parts(sample.target)
        return Prediction(sample.input, printed, sample.target, characters, outside, *parts)

    def sample(self, text: str) -> Sample:
        """A plain input as this model reads it (except for scrambling), with the true output."""
        task = self.config.make_task()
        plain = task.plain(text) if task.is_python else text
        rendered = task.render(Sample(plain, "")).input
        check_characters(rendered, self.reader.vocabulary)
        return Sample(rendered, task.solve(rendered))


def _unscrambled(seed: int, printed: Character, vocabulary: str) -> Character:
    others = "".join(letter for letter, _ in printed.alternatives)
    letters = unscramble(seed, Sample(printed.character, others), vocabulary)
    shares = [(letter, share) for letter, (_, share) in zip(letters.target, printed.alternatives, strict=True)]
    return Character(letters.input, printed.probability, shares)


def load(path: str | Path, *, trust: Sequence[str] = ()) -> Executor:
    """The model of a run folder (finished or not) or of a model.safetensors file.

    A run with classes from outside execlab is loaded only if `trust` names their import paths.
    """
    registry.trust(*trust)
    where = Path(path)
    if not where.exists():
        raise ExeclabError(f"there is no run or model at {where}")
    file = where / "model.safetensors" if where.is_dir() else where
    if where.is_dir() and not file.exists():
        about = runs.read_about(where)
        config, version = about.config, about.data_version
        model = weights.load_checkpoint(where, config)
    else:
        model, config = weights.load_model(file)
        version = weights.data_version(file)
    return Executor(config, Reader(model.eval(), prompt_of(config), weights.vocabulary_of(config), version), where)
