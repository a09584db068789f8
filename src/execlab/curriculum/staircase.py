"""The staircase that naive and combined climb (section 4), and the rule that says when to take the next stair.

>>> [tuple(stair) for stair in staircase(Difficulty(3, 2))]
[(1, 1), (2, 1), (3, 1), (1, 2), (2, 2), (3, 2)]
>>> [tuple(stair) for stair in staircase(Difficulty(2, 2), order="nesting_first")]
[(1, 1), (1, 2), (2, 1), (2, 2)]
>>> [stair.length for stair in staircase(Difficulty(20), stride=6)]
[1, 7, 13, 19, 20]
>>> [stair.length for stair in staircase(Difficulty(5), start=3)]
[3, 4, 5]
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from execlab.curriculum.strategy import Event
from execlab.tasks import Difficulty

Order = Literal["length_first", "nesting_first"]
Trigger = Literal["progress", "released"]

RELEASED_MEMORY = 5  # evaluations that the released rule looks back
LONGEST_STAY = 100  # evaluations on one stair under the released rule
MEMORY = ("stair", "passed", "best", "waited", "history")


def staircase(goal: Difficulty, order: Order = "length_first", stride: int = 1, start: int = 1) -> list[Difficulty]:
    """Every difficulty from (start, 1) to the goal, in the order of the climb; the last one is the goal."""
    lengths = [*range(start, goal.length, stride), goal.length]
    nestings = range(1, goal.nesting + 1)
    if order == "nesting_first":
        return [Difficulty(length, nesting) for length in lengths for nesting in nestings]
    return [Difficulty(length, nesting) for nesting in nestings for length in lengths]


@dataclass
class Climb:
    """Where on the stairs a run is, and the rule that moves it on.

    Below the goal, `update` says "climb" when validation accuracy passes `advance_at` or there is no more progress. At
    the goal the same rule says "decay" instead: once when validation passes, then whenever training makes no progress.
    """

    stairs: list[Difficulty]
    trigger: Trigger = "progress"
    advance_at: float = 0.95
    patience: int = 5
    rise: float = 0.005

    # What a checkpoint keeps.
    stair: int = 0
    passed: bool = False  # validation has passed `advance_at` at the goal
    best: float = -1.0
    waited: int = 0
    history: list[float] = field(default_factory=list)

    @property
    def current(self) -> Difficulty:
        """The difficulty in use."""
        return self.stairs[self.stair]

    @property
    def at_goal(self) -> bool:
        """Whether the climb is over."""
        return self.stair == len(self.stairs) - 1

    def update(self, validation: float, training: float) -> Event | None:
        """Take in the accuracies of an evaluation and say what follows from them."""
        passes = validation > self.advance_at and not (self.at_goal and self.passed and self.trigger == "progress")
        if self.trigger == "progress":
            # paper: the climb looks at validation, the decay of the rate at the training set
            stuck = self._no_progress(training if self.at_goal else validation)
        else:
            stuck = self._worse_than_before(training)
        if not passes and not stuck:
            return None
        self.best, self.waited, self.history = -1.0, 0, []
        if self.at_goal:
            self.passed = self.passed or passes
            return "decay"
        self.stair += 1
        return "climb"

    def _no_progress(self, accuracy: float) -> bool:
        """The best has not risen by `rise` in `patience` evaluations."""
        if accuracy > self.best + self.rise:
            self.best, self.waited = accuracy, 0
        else:
            self.waited += 1
        return self.waited >= self.patience

    def _worse_than_before(self, training: float) -> bool:
        """The released rule: training accuracy is lower than five evaluations ago; or this has lasted too long."""
        self.history.append(training)
        lower = len(self.history) > RELEASED_MEMORY and training < self.history[-1 - RELEASED_MEMORY]
        # The released rule never fires on an accuracy that stays as it is.
        return lower or len(self.history) >= LONGEST_STAY
