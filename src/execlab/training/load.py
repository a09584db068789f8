"""A trained model to ask: `execlab.load("runs/add4").predict("print(1234+4321)")`."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from execlab.data.scramble import scramble, unscramble
from execlab.data.vocabulary import END_MARK, check_characters
from execlab.errors import ExeclabError
from execlab.evaluation.decoding import Character, Reader, spell
from execlab.tasks import Sample
from execlab.training import runs, weights
from execlab.training.prompt import prompt_of

if TYPE_CHECKING:
    from torch import Tensor

    from execlab.training.config import Config


@dataclass(frozen=True)
class Prediction:
    """What the model said, and what is true."""

    input: str  # as the model read it, but for scrambling
    prediction: str
    target: str
    characters: list[Character]
    outside: str | None  # in which way this is harder than what the model was trained on

    @property
    def correct(self) -> bool:
        """Whether the whole output is right."""
        return self.prediction == self.target


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

        Every character comes with so many `others`; `activations` collects what the model lets
        see after every character read.
        """
        sample = self.sample(text)
        seed = self.config.scramble
        seen = sample if seed is None else scramble(seed, sample)
        forced = seen.target if teacher_forced else None
        characters = spell(self.reader, seen.input, target=forced, others=others, activations=activations)
        if seed is not None:
            characters = [_unscrambled(seed, character) for character in characters]
        said = "".join(character.character for character in characters)
        said = said.removesuffix(END_MARK) if teacher_forced else said.split(END_MARK)[0]
        return Prediction(sample.input, said, sample.target, characters, self._outside(text))

    def sample(self, text: str) -> Sample:
        """A plain input as this model reads it (but for scrambling), with the true output."""
        task = self.config.make_task()
        modified = task.modify(task.plain(text) if task.is_python else text)
        check_characters(modified)
        return Sample(modified, task.solve(modified))

    def _outside(self, text: str) -> str | None:
        """How a plain input exceeds the trained difficulty, if it does."""
        goal = self.config.goal
        digits = max((len(number) for number in re.findall("[0-9]+", text)), default=0)
        # 10^length is drawn too, and has one digit more
        allowed = goal.length + (self.config.task == "program" and str(10**goal.length) in text)
        if digits > allowed:
            return f"it has {digits} digits in a row, and the model was trained on {goal.length}"
        if self.config.task == "program":
            used = sum(isinstance(node, ast.BinOp | ast.IfExp | ast.For) for node in ast.walk(ast.parse(text)))
            if used > goal.nesting:
                return f"it has {used} operations, and the model was trained on {goal.nesting}"
        return None


def _unscrambled(seed: int, found: Character) -> Character:
    letters = unscramble(seed, Sample(found.character, "".join(letter for letter, _ in found.alternatives)))
    others = [(letter, share) for letter, (_, share) in zip(letters.target, found.alternatives, strict=True)]
    return Character(letters.input, found.probability, others)


def load(path: str | Path) -> Executor:
    """The model of a run folder (finished or not) or of a model.safetensors file."""
    where = Path(path)
    if where.is_dir():
        if (where / "model.safetensors").exists():
            model, config = weights.load_model(where / "model.safetensors")
        else:
            config = runs.config_from(runs.read_about(where), where / "config.json")
            model = weights.load_checkpoint(where, config)
    elif where.is_file():
        model, config = weights.load_model(where)
    else:
        raise ExeclabError(f"there is no run or model at {where}")
    return Executor(config, Reader(model.eval(), prompt_of(config)), where)
