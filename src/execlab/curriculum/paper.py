"""The paper's four strategies (section 4).

>>> from execlab.randomness import stream
>>> rng, goal = stream("example"), Difficulty(6, 3)
>>> Baseline(goal).draw(rng), Naive(goal).draw(rng)
(Difficulty(length=6, nesting=3), Difficulty(length=1, nesting=1))
>>> [tuple(Mix(goal).draw(rng)) for _ in range(5)]
[(5, 3), (1, 1), (3, 1), (2, 2), (5, 3)]
>>> [tuple(Combined(goal).draw(rng)) for _ in range(8)]
[(1, 1), (3, 2), (1, 1), (1, 1), (1, 1), (1, 1), (1, 1), (1, 1)]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from execlab.curriculum.staircase import MEMORY, Climb, Order, Trigger, staircase
from execlab.curriculum.strategy import Event, Scores, Strategy
from execlab.options import option
from execlab.randomness import below
from execlab.tasks import Difficulty

if TYPE_CHECKING:
    from collections.abc import Mapping
    from random import Random

MIX_SHARE = 0.2  # paper: not given; released code: 20 % mix, 80 % naive


def draw_mix(rng: Random, goal: Difficulty) -> Difficulty:
    """Anything up to the goal, length and nesting independently."""
    # paper: drawn for every sample; released code: drawn again for every operand
    return Difficulty(1 + below(rng, goal.length), 1 + below(rng, goal.nesting))


@dataclass
class Paper(Strategy):
    """What the four share: the rule that climbs and, at the goal, lets the learning rate decay."""

    trigger: Trigger = option("progress", "When to climb: no more progress, or the released code's rule.")
    advance_at: float = option(0.95, "Climb as soon as validation accuracy passes this.", 0, 1)
    patience: int = option(
        5, "Evaluations without progress before climbing (or decaying the learning rate) anyway.", 1, 10**9
    )
    rise: float = option(0.005, "What counts as progress of an accuracy.", 0, 1)

    def __post_init__(self) -> None:
        self.climb = Climb(self.difficulties(), self.trigger, self.advance_at, self.patience, self.rise)

    @property
    def current(self) -> Difficulty:
        """The stair in use."""
        return self.climb.current

    def probes(self) -> list[Difficulty]:
        """Validation is scored at the current difficulty."""
        return [self.current]

    def observe(self, scores: Scores) -> Event | None:
        """The paper's rule."""
        return self.climb.update(scores.validation[self.current], scores.training_accuracy)

    def state_dict(self) -> dict[str, Any]:
        """Where on the stairs it is, and what the rule remembers."""
        return {name: getattr(self.climb, name) for name in MEMORY}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """The inverse."""
        for name in MEMORY:
            setattr(self.climb, name, state[name])


# released code: baseline and mix walk the stairs too, for validation only; here they are at the goal from the start
@dataclass
class Baseline(Paper):
    """No curriculum: always the goal."""

    def draw(self, rng: Random) -> Difficulty:
        """The goal."""
        del rng
        return self.goal


@dataclass
class Mix(Paper):
    """Anything up to the goal."""

    def draw(self, rng: Random) -> Difficulty:
        """Length and nesting uniform up to the goal."""
        return draw_mix(rng, self.goal)


@dataclass
class Naive(Paper):
    """Stair by stair."""

    order: Order = option("length_first", "The climb: length first, or nesting first.")
    start: int = option(1, "The climb: the length of the first stair.", 1, 1_000)
    stride: int = option(1, "The climb: how much longer the next stair is.", 1, 1_000)

    def difficulties(self) -> list[Difficulty]:
        """The stairs."""
        return staircase(self.goal, self.order, self.stride, self.start)

    def draw(self, rng: Random) -> Difficulty:
        """What has been reached so far."""
        del rng
        return self.current


@dataclass
class Combined(Naive):
    """Some samples by mix, the others by naive."""

    mix_share: float = option(MIX_SHARE, "combined: the share of samples drawn by mix.", 0, 1)

    def draw(self, rng: Random) -> Difficulty:
        """By mix or by naive."""
        return draw_mix(rng, self.goal) if rng.random() < self.mix_share else self.current
