"""A strategy that learns which difficulty to draw."""

from dataclasses import dataclass
from typing import ClassVar

from execlab.curriculum import Strategy
from execlab.options import option
from execlab.randomness import below
from execlab.tasks import Difficulty


@dataclass
class Bandit(Strategy):
    """Draws the length whose accuracy is nearest to 50 %: neither too easy nor too hard."""

    adaptive: ClassVar[bool] = True  # record the distribution over difficulties

    explore: float = option(0.2, "The share of samples of any length.", 0, 1)

    def __post_init__(self):
        self.accuracy = [0.5] * self.goal.length

    def difficulties(self):
        """Every length up to the goal."""
        return [Difficulty(length, self.goal.nesting) for length in range(1, self.goal.length + 1)]

    def draw(self, rng):
        """The difficulty of the next training sample."""
        every = self.difficulties()
        if rng.random() < self.explore:
            return every[below(rng, len(every))]
        return min(every, key=lambda each: abs(self.accuracy[each.length - 1] - 0.5))

    def observe(self, scores):
        """Remember the accuracy of the training samples; let the learning rate decay once the goal is learned."""
        for difficulty, tally in scores.training.items():
            self.accuracy[difficulty.length - 1] = tally.accuracy
        return "decay" if scores.validation[self.goal] > 0.95 else None

    def state_dict(self):
        """What a checkpoint keeps."""
        return {"accuracy": list(self.accuracy)}

    def load_state_dict(self, state):
        """The inverse."""
        self.accuracy = list(state["accuracy"])
