"""Strategies that learn which difficulty teaches most: teacher-student curriculum learning (Matiisen et al., 2017) and
the mastering rate (Willems et al., 2019).

A teacher gives attention to the difficulties whose accuracy changes. The size of the change counts, not its sign: a
falling accuracy means that something is being forgotten. Scores are those of the training samples, which cost nothing,
or of validation at every difficulty.

>>> from execlab.randomness import stream
>>> teacher = Online(Difficulty(3), epsilon=0.0)
>>> for accuracy in (0.2, 0.6):
...     _ = teacher.observe(Scores({Difficulty(3): 0.0}, {Difficulty(2): Tally(10, int(10 * accuracy), 10)}))
>>> [tuple(teacher.draw(stream("example", i))) for i in range(3)]
[(2, 1), (2, 1), (2, 1)]
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import exp
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from execlab.curriculum.staircase import staircase
from execlab.curriculum.strategy import Event, Scores, Strategy, Tally
from execlab.options import TINY, option
from execlab.randomness import below
from execlab.tasks import Difficulty

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from random import Random

Policy = Literal["epsilon", "boltzmann"]
ScoredOn = Literal["training", "validation"]
FEWEST = 8  # training samples of a difficulty that make a score


@dataclass
class Teacher(Strategy):
    """What adaptive strategies share: the difficulties up to the goal, and the history of scores of each.

    The learning rate decays (schedule paper) whenever accuracy at the goal is above 95 %.
    """

    adaptive: ClassVar[bool] = True

    start: int = option(1, "The length of the easiest difficulty.", 1, 1_000)
    stride: int = option(1, "How much longer the next length is.", 1, 1_000)
    scored_on: ScoredOn = option("training", "Learn from training samples (free) or from validation.")
    memory: int = option(10, "Scores of a difficulty that are remembered.", 2, 1_000)
    epsilon: float = option(0.1, "The share of samples drawn uniformly.", 0, 1)

    def __post_init__(self) -> None:
        self.tasks = staircase(self.goal, stride=self.stride, start=self.start)
        self.time = 0
        self.history: list[list[list[float]]] = [[] for _ in self.tasks]  # of each: [time, accuracy], oldest first
        self.learn()

    def difficulties(self) -> list[Difficulty]:
        """Everything up to the goal."""
        return self.tasks

    def probes(self) -> list[Difficulty]:
        """All of them, if validation is what counts."""
        return self.tasks if self.scored_on == "validation" else []

    def observe(self, scores: Scores) -> Event | None:
        """Remember the scores and set the attention anew."""
        self.time += 1
        for task, history in zip(self.tasks, self.history, strict=True):
            tally = scores.training.get(task, Tally())
            if self.scored_on == "validation" and task in scores.validation:
                history.append([self.time, scores.validation[task]])
            elif self.scored_on == "training" and tally.samples >= FEWEST:
                history.append([self.time, tally.accuracy])
            del history[: -self.memory - 1]  # so many changes
        self.learn()
        return "decay" if scores.validation[self.goal] > 0.95 else None

    def learn(self) -> None:
        """Whatever is computed from the histories."""

    def state_dict(self) -> dict[str, Any]:
        """The scores so far."""
        return {"time": self.time, "history": self.history}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """The inverse."""
        if len(state["history"]) != len(self.tasks):
            raise ValueError("another number of difficulties")
        self.time, self.history = state["time"], state["history"]
        self.learn()


@dataclass
class Weighted(Teacher):
    """A teacher that draws from a distribution over difficulties."""

    def learn(self) -> None:
        """The distribution, summed up: what `draw` compares a random number with."""
        shares = self.shares()
        uniform = self.epsilon / len(shares)
        total, self.sums = 0.0, []
        for share in shares:
            total += uniform + (1 - self.epsilon) * share
            self.sums.append(total)

    def shares(self) -> list[float]:
        """The share of each difficulty, before the uniform part."""
        raise NotImplementedError

    def draw(self, rng: Random) -> Difficulty:
        """By the distribution."""
        number = rng.random() * self.sums[-1]
        return next((task for task, total in zip(self.tasks, self.sums, strict=True) if number < total), self.goal)


@dataclass
class Bandit(Weighted):
    """A teacher that goes by an expected change of accuracy, greedily or by Boltzmann's distribution."""

    policy: Policy = option("epsilon", "epsilon: the largest change gets all but a uniform part; boltzmann: softmax.")
    temperature: float = option(4e-4, "boltzmann: how sharp the softmax is.", TINY, 1e6)

    def shares(self) -> list[float]:
        """By the absolute value of the expected change."""
        values = [abs(value) for value in self.values()]
        highest = max(values)
        if self.policy == "boltzmann":
            weights = [exp((value - highest) / self.temperature) for value in values]
        else:
            weights = [float(value == highest) for value in values]  # the first evaluations: all alike
        return [weight / sum(weights) for weight in weights]

    def values(self) -> list[float]:
        """The expected change of every difficulty's accuracy."""
        raise NotImplementedError


@dataclass
class Online(Bandit):
    """TSCL's Online: an exponential moving average of the changes."""

    alpha: float = option(0.1, "The weight of the newest change in the moving average.", TINY, 1)

    def __post_init__(self) -> None:
        self.averages = [0.0] * len(staircase(self.goal, stride=self.stride, start=self.start))
        super().__post_init__()

    def observe(self, scores: Scores) -> Event | None:
        """Move the averages of the difficulties that have a new score."""
        before = [history[-1:] for history in self.history]
        event = super().observe(scores)
        for i, (old, history) in enumerate(zip(before, self.history, strict=True)):
            if history and history[-1][0] == self.time:
                change = history[-1][1] - (old[0][1] if old else 0.0)
                self.averages[i] += self.alpha * (change - self.averages[i])
        self.learn()
        return event

    def values(self) -> list[float]:
        """The averages."""
        return self.averages

    def state_dict(self) -> dict[str, Any]:
        """With the averages."""
        return {**super().state_dict(), "averages": self.averages}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """The inverse."""
        self.averages = state["averages"]
        super().load_state_dict(state)


def slope(points: Sequence[Sequence[float]]) -> float:
    """The least-squares slope through (time, score) pairs; 0 through fewer than two.

    >>> slope([(1, 0.5), (2, 0.6), (3, 0.7)])
    0.09999999999999998
    """
    if len(points) < 2:
        return 0.0
    mean_time = sum(time for time, _ in points) / len(points)
    mean_score = sum(score for _, score in points) / len(points)
    spread = sum((time - mean_time) ** 2 for time, _ in points)
    return sum((time - mean_time) * (score - mean_score) for time, score in points) / spread


@dataclass
class Window(Bandit):
    """TSCL's Window: the slope through the last scores."""

    def values(self) -> list[float]:
        """The slopes."""
        return [slope(history[-self.memory :]) for history in self.history]


@dataclass
class Sampling(Teacher):
    """TSCL's Sampling: one of the last changes of each difficulty is drawn, and the largest wins.

    A difficulty without a change so far counts as if it had changed by 1, so everything is tried.
    """

    def learn(self) -> None:
        """The changes that are remembered."""
        self.changes = [[abs(new[1] - old[1]) for old, new in pairwise(history)] for history in self.history]

    def draw(self, rng: Random) -> Difficulty:
        """Now and then anything; otherwise the largest of the changes drawn."""
        if rng.random() < self.epsilon:
            return self.tasks[below(rng, len(self.tasks))]
        drawn = [changes[below(rng, len(changes))] if changes else 1.0 for changes in self.changes]
        highest = max(drawn)
        best = [task for task, change in zip(self.tasks, drawn, strict=True) if change == highest]
        return best[below(rng, len(best))]


@dataclass
class MasteringRate(Weighted):
    """Attention to what can be learned now: easier difficulties are mastered, this one and harder ones are not.

    Mastery is accuracy between `floor` and `mastered`, as a share. A difficulty hands a part of its attention down to
    the next easier ones and a part up to the next harder ones.
    """

    floor: float = option(0.5, "Accuracy that counts as no mastery.", 0, 1)
    mastered: float = option(0.99, "Accuracy that counts as full mastery.", 0, 1)
    power: float = option(6.0, "How much of the easier difficulties must be mastered first.", 0, 100)
    weight: float = option(0.6, "The share of attention for what is not mastered; the rest goes by change.", 0, 1)
    back: float = option(0.2, "The share of attention that goes to easier difficulties.", 0, 1)
    ahead: float = option(0.05, "The share of attention that goes to harder difficulties.", 0, 1)

    def learn(self) -> None:
        """Who is easier and who is harder, then the distribution."""
        lengths = sorted({task.length for task in self.tasks})
        place = {(lengths.index(task.length), task.nesting): i for i, task in enumerate(self.tasks)}
        self.easier: list[list[int]] = [[] for _ in self.tasks]
        self.harder: list[list[int]] = [[] for _ in self.tasks]
        for (length, nesting), i in place.items():
            for other in ((length - 1, nesting), (length, nesting - 1)):
                if other in place:
                    self.easier[i].append(place[other])
                    self.harder[place[other]].append(i)
        super().learn()

    def shares(self) -> list[float]:
        """Attention, handed down and up, scaled to 1."""
        scale = max(self.mastered - self.floor, TINY)
        latest = [history[-1][1] if history else 0.0 for history in self.history]
        mastery = [min(max((accuracy - self.floor) / scale, 0.0), 1.0) for accuracy in latest]
        changes = [abs(slope(history)) for history in self.history]
        largest = max(changes) or 1.0
        attention = []
        for i, own in enumerate(mastery):
            ready = min((mastery[j] for j in self.easier[i]), default=1.0) ** self.power
            beyond = min((mastery[j] for j in self.harder[i]), default=0.0)
            wanted = self.weight * (1 - own) + (1 - self.weight) * changes[i] / largest
            attention.append(ready * wanted * (1 - beyond) + TINY)  # never nothing at all
        given = [0.0] * len(attention)
        for i, own in enumerate(attention):
            kept = own
            for others, part in ((self.easier[i], self.back), (self.harder[i], self.ahead)):
                for j in others:
                    given[j] += own * part / len(others)
                kept -= own * part * bool(others)
            given[i] += kept
        return [share / sum(given) for share in given]
