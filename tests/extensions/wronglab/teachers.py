"""Strategies that break their contract."""

from dataclasses import dataclass

from execlab.curriculum import Strategy
from execlab.tasks import Difficulty


class Undrawn(Strategy):
    pass


@dataclass
class Goal(Strategy):
    """Draws the goal: keeps the contract, so that each class below breaks it in its own way alone."""

    def draw(self, rng):
        return self.goal


@dataclass
class TooHard(Goal):
    def draw(self, rng):
        return Difficulty(self.goal.length + 100)


@dataclass
class Plain(Goal):
    def draw(self, rng):
        return (1, 1)


@dataclass
class TooEasy(Goal):
    def probes(self):
        return [Difficulty(0)]


@dataclass
class Endless(Goal):
    def difficulties(self):
        return [self.goal, Difficulty(1)]


@dataclass
class Counting(Goal):
    """Draws something else at every call."""

    drawn = 0

    def draw(self, rng):
        self.drawn += 1
        return Difficulty(1 + self.drawn % self.goal.length)


@dataclass
class Watching(Goal):
    """Remembers something that its state_dict lacks."""

    seen = 0

    def draw(self, rng):
        return Difficulty(1 + self.seen % self.goal.length)

    def observe(self, scores):
        self.seen += 1


@dataclass
class Saving(Goal):
    def state_dict(self):
        return {"seen": {1, 2}}


@dataclass
class Numbered(Goal):
    """JSON makes texts of a dict's keys."""

    seen = {1: 0.5}  # noqa: RUF012

    def state_dict(self):
        return {"seen": self.seen, "first": self.seen[1]}

    def load_state_dict(self, state):
        self.seen = state["seen"]


@dataclass
class Shouting(Goal):
    def observe(self, scores):
        return "up"


@dataclass
class Refusing(Goal):
    def __post_init__(self):
        raise KeyError("start")


@dataclass
class Asking(Goal):
    """Asks for a score that it did not ask to be made."""

    def observe(self, scores):
        scores.validation[Difficulty(self.goal.length + 1)]


@dataclass
class Late(Goal):
    """Keeps its contract for a while."""

    evaluations = 0

    def state_dict(self):
        return {"evaluations": self.evaluations}

    def load_state_dict(self, state):
        self.evaluations = state["evaluations"]

    def observe(self, scores):
        self.evaluations += 1


@dataclass
class LateTooHard(Late):
    def draw(self, rng):
        return Difficulty(60) if self.evaluations > 10 else self.goal


@dataclass
class LateFailing(Late):
    def draw(self, rng):
        return self.goal._replace(length=1 + 0 // max(11 - self.evaluations, 0))
