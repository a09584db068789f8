"""A climb that stays on a stair until it is mastered, and goes back to what is forgotten.

A stair is mastered when its exact match on validation passes `advance_at`. Mastered stairs are scored again in turn;
one that falls below `forget_at` is climbed once more. Only a stair that is clearly stuck is left unmastered.

>>> climb = Mastery(Difficulty(3), patience=2)
>>> climb.current, climb.observe(Scores({climb.current: 0.99}, exact={climb.current: 0.97})), climb.current
(Difficulty(length=2, nesting=1), 'climb', Difficulty(length=3, nesting=1))
>>> climb.observe(Scores({}, exact={Difficulty(2): 0.5})), climb.current
(None, Difficulty(length=2, nesting=1))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from execlab.curriculum.paper import draw_mix
from execlab.curriculum.staircase import Order, staircase
from execlab.curriculum.strategy import Event, Scores, Strategy
from execlab.options import option
from execlab.tasks import Difficulty

if TYPE_CHECKING:
    from collections.abc import Mapping
    from random import Random

MEMORY = ("accuracies", "mastered", "stuck", "best", "waited", "turn")


@dataclass
class Mastery(Strategy):
    """Most samples from the lowest stair that is not mastered, others from mastered ones and from anything to come."""

    adaptive: ClassVar[bool] = True

    order: Order = option("length_first", "The climb: length first, or nesting first.")
    start: int = option(2, "The climb: the length of the first stair.", 1, 1_000)
    stride: int = option(1, "The climb: how much longer the next stair is.", 1, 1_000)
    advance_at: float = option(0.95, "Climb as soon as validation accuracy passes this.", 0, 1)
    forget_at: float = option(0.8, "mastery: go back to a stair whose exact match falls below this.", 0, 1)
    patience: int = option(
        40, "Evaluations without progress before climbing (or decaying the learning rate) anyway.", 1, 10**9
    )
    rise: float = option(0.01, "What counts as progress of an accuracy.", 0, 1)
    review: float = option(0.3, "mastery: the share of samples from mastered stairs, the weaker ones more often.", 0, 1)
    mix_share: float = option(0.1, "combined: the share of samples drawn by mix.", 0, 1)

    def __post_init__(self) -> None:
        self.stairs = staircase(self.goal, self.order, self.stride, self.start)
        self.accuracies = [0.0] * len(self.stairs)
        self.mastered = [False] * len(self.stairs)
        self.stuck = [False] * len(self.stairs)
        self.best, self.waited, self.turn = -1.0, 0, 0

    def difficulties(self) -> list[Difficulty]:
        """The stairs."""
        return self.stairs

    @property
    def stair(self) -> int:
        """The lowest that is neither mastered nor stuck; the goal if there is none."""
        open_ones = (i for i in range(len(self.stairs)) if not (self.mastered[i] or self.stuck[i]))
        return next(open_ones, len(self.stairs) - 1)

    @property
    def current(self) -> Difficulty:
        """The stair in use."""
        return self.stairs[self.stair]

    def draw(self, rng: Random) -> Difficulty:
        """From the stair in use, from those that were left behind, or from anything up to the goal."""
        share = rng.random()
        if share < self.mix_share:
            return draw_mix(rng, self.goal)
        left = self._left_behind()
        if not left or share >= self.mix_share + self.review:
            return self.current
        weights = [1.02 - self.accuracies[i] for i in left]
        number = rng.random() * sum(weights)
        for i, weight in zip(left, weights, strict=True):
            number -= weight
            if number < 0:
                return self.stairs[i]
        return self.stairs[left[-1]]

    def _left_behind(self) -> list[int]:
        return [i for i in range(len(self.stairs)) if (self.mastered[i] or self.stuck[i]) and i != self.stair]

    def probes(self) -> list[Difficulty]:
        """The stair in use, and one that was left behind."""
        left = self._left_behind()
        return [self.current, *([self.stairs[left[self.turn % len(left)]]] if left else [])]

    def observe(self, scores: Scores) -> Event | None:
        """Climb, stay, or go back."""
        stair, self.turn = self.stair, self.turn + 1
        for i, difficulty in enumerate(self.stairs):
            if difficulty in scores.exact:
                self.accuracies[i] = scores.exact[difficulty]
                if i != stair and self.mastered[i] and self.accuracies[i] < self.forget_at:
                    self.mastered[i] = False
        if self.stairs[stair] in scores.exact:
            self._judge(stair)
        if self.stair == stair:
            return None
        self.best, self.waited = -1.0, 0
        return "climb" if self.stair > stair else None

    def _judge(self, stair: int) -> None:
        accuracy = self.accuracies[stair]
        if accuracy > self.best + self.rise:
            self.best, self.waited = accuracy, 0
        else:
            self.waited += 1
        self.mastered[stair] = accuracy > self.advance_at
        self.stuck[stair] = self.stuck[stair] or self.waited >= self.patience

    def state_dict(self) -> dict[str, Any]:
        """What it remembers of every stair."""
        return {name: getattr(self, name) for name in MEMORY}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """The inverse."""
        if len(state["accuracies"]) != len(self.stairs):
            raise ValueError("another number of stairs")
        for name in MEMORY:
            setattr(self, name, state[name])
