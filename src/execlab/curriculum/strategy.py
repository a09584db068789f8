"""The contract of a strategy: which difficulty the next training sample has, and what follows from scores.

A strategy is built from the goal and its options, which are the fields of its dataclass. The loop asks it to `draw` a
difficulty for every training sample; at every evaluation it hands over scores, on validation at the difficulties that
the strategy asks for (`probes`) and on training samples at all that were drawn. Whatever a strategy remembers is JSON
in `state_dict`, and it changes only in `observe`: so a resumed run draws what it would have drawn.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from execlab.tasks import Difficulty

if TYPE_CHECKING:
    from collections.abc import Mapping
    from random import Random

Event = Literal["climb", "decay"]


class Tally(NamedTuple):
    """Training samples of one difficulty since the last evaluation, and their output characters (teacher-forced)."""

    samples: int = 0
    right: int = 0
    counted: int = 0

    @property
    def accuracy(self) -> float:
        """The share of right characters."""
        return self.right / max(self.counted, 1)

    def plus(self, other: Tally) -> Tally:
        """Both together."""
        return Tally(self.samples + other.samples, self.right + other.right, self.counted + other.counted)


@dataclass(frozen=True)
class Scores:
    """What an evaluation tells a strategy, by difficulty; accuracies are teacher-forced but for `exact`."""

    validation: Mapping[Difficulty, float] = field(default_factory=dict)  # the goal, and what was probed
    training: Mapping[Difficulty, Tally] = field(default_factory=dict)  # what was drawn since the last evaluation
    exact: Mapping[Difficulty, float] = field(default_factory=dict)  # exact match on validation, of the same ones

    @property
    def training_accuracy(self) -> float:
        """Over all training samples since the last evaluation."""
        total = Tally()
        for tally in self.training.values():
            total = total.plus(tally)
        return total.accuracy


@dataclass
class Strategy(ABC):
    """A strategy; `STRATEGIES` lists the built-in ones."""

    goal: Difficulty
    adaptive: ClassVar[bool] = False  # whether the distribution over difficulties is worth recording

    @property
    def current(self) -> Difficulty:
        """The difficulty in use, for logs; the goal unless the strategy climbs."""
        return self.goal

    def difficulties(self) -> list[Difficulty]:
        """What it draws from, easiest first; the last one is the goal."""
        return [self.goal]

    @abstractmethod
    def draw(self, rng: Random) -> Difficulty:
        """The difficulty of the next training sample; depends on the state and on chance alone."""

    def probes(self) -> list[Difficulty]:
        """What is to be scored on validation at the next evaluation, besides the goal."""
        return []

    def observe(self, scores: Scores) -> Event | None:
        """Take in the scores of an evaluation: "climb" to the next stair, "decay" the learning rate, or nothing."""
        del scores
        return None

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint keeps, as JSON."""
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """The inverse."""
        del state
