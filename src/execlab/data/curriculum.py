"""A curriculum for other people's training: batches of entries whose difficulty a strategy chooses by their scores.

>>> curriculum = Curriculum("addition", length=3, strategy="naive", batch=4, every=1, advance_at=0.9)
>>> while curriculum.current.length < 3:
...     entries = curriculum.next_batch()
...     event = curriculum.observe([1.0] * len(entries))  # what your model got for its replies
>>> [entry["metadata"]["length"] for entry in curriculum.next_batch()]
[3, 3, 3, 3]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from execlab.curriculum import Event, Scores, Tally, make_strategy, strategy_class
from execlab.data.dataset import Entry, to_entry
from execlab.data.sampling import Row, Source, draw_sample
from execlab.errors import ExeclabError
from execlab.options import options_of
from execlab.randomness import stream
from execlab.tasks import Difficulty, check_difficulty, make_task

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PARTS = 1_000  # of a score: a tally counts whole numbers
FORMAT = 1


class Curriculum:
    """Train entries batch by batch; the strategy hears of their scores and changes the difficulty.

    Give every batch's scores (from 0 to 1, in its order) to `observe` before you ask for the next batch. The strategy
    is asked to learn from them once in `every` batches. It wants validation accuracy at some difficulties: hand over
    your own, by difficulty, or it takes the scores of training entries there.
    """

    def __init__(
        self,
        task: str,
        *,
        length: int,
        nesting: int = 1,
        strategy: str = "combined",
        batch: int = 64,
        every: int = 10,
        seed: int = 0,
        **options: Any,
    ) -> None:
        if not 1 <= batch <= 1_000_000 or not 1 <= every <= 1_000_000:
            raise ExeclabError(f"batch is {batch} and every is {every}; both must be from 1 to 1,000,000")
        of_strategy = options_of(strategy_class(strategy)).keys()
        self.task = make_task(task, {name: value for name, value in options.items() if name not in of_strategy})
        goal = check_difficulty(self.task, Difficulty(length, nesting))
        mine = {name: value for name, value in options.items() if name in of_strategy}
        self.strategy, self.name = make_strategy(strategy, goal, mine), strategy
        self.batch, self.every, self.seed = batch, every, seed
        self.number = 0  # of batches that were scored
        self.drawn: list[Difficulty] = []  # of the batch that waits for its scores
        self.tallies: dict[Difficulty, Tally] = {}  # since the strategy last learned
        self.known: dict[Difficulty, float] = {}  # the latest accuracy of every difficulty

    @property
    def current(self) -> Difficulty:
        """The difficulty in use."""
        return self.strategy.current

    def next_batch(self) -> list[Entry]:
        """The next entries of the train split; the same ones until they are scored."""
        key = (self.task.name, self.task.variant, self.name, *self.strategy.goal, *self.current)
        rng = stream(self.seed, "train", "curriculum", self.number, *key)
        entries, self.drawn = [], []
        for index in range(self.number * self.batch, (self.number + 1) * self.batch):
            difficulty = self.strategy.draw(rng)
            sample = self.task.render(draw_sample(self.task, rng, difficulty, "train"))
            source = Source(self.task, self.strategy.goal, "train", self.seed)
            entry = to_entry(source, Row(index, difficulty, sample))
            entry["metadata"]["options"]["strategy"] = self.name
            entries.append(entry)
            self.drawn.append(difficulty)
        return entries

    def observe(
        self, scores: Sequence[float], validation: Mapping[tuple[int, int], float] | None = None
    ) -> Event | None:
        """Take in the scores of the batch: "climb", "decay", or nothing."""
        if not self.drawn:
            raise ExeclabError("there is no batch to score; ask for one with next_batch() first")
        if len(scores) != len(self.drawn):
            raise ExeclabError(f"{len(scores)} scores for a batch of {len(self.drawn)} entries; give one per entry")
        if bad := [score for score in scores if not 0 <= score <= 1]:
            raise ExeclabError(f"a score is {bad[0]}; scores must be from 0 to 1")
        for difficulty, score in zip(self.drawn, scores, strict=True):
            before = self.tallies.get(difficulty, Tally())
            self.tallies[difficulty] = before.plus(Tally(1, round(PARTS * score), PARTS))
        self.drawn, self.number = [], self.number + 1
        if self.number % self.every:
            return None
        self.known |= {difficulty: tally.accuracy for difficulty, tally in self.tallies.items()}
        self.known |= {Difficulty(*difficulty): value for difficulty, value in (validation or {}).items()}
        wanted = {*self.strategy.probes(), self.strategy.goal}
        event = self.strategy.observe(Scores({each: self.known.get(each, 0.0) for each in wanted}, self.tallies))
        self.tallies = {}
        return event

    def state_dict(self) -> dict[str, Any]:
        """All that is needed to go on, as JSON; a batch without scores is drawn again."""
        return {
            "format": FORMAT,
            "number": self.number,
            "strategy": self.strategy.state_dict(),
            "tallies": [[*difficulty, *tally] for difficulty, tally in self.tallies.items()],
            "known": [[*difficulty, value] for difficulty, value in self.known.items()],
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """The inverse."""
        try:
            if state["format"] != FORMAT:
                raise ValueError
            tallies = {Difficulty(*each[:2]): Tally(*each[2:]) for each in state["tallies"]}
            known = {Difficulty(length, nesting): float(value) for length, nesting, value in state["known"]}
            self.strategy.load_state_dict(state["strategy"])
        except (KeyError, TypeError, ValueError) as error:
            raise ExeclabError("this is not the state of such a curriculum") from error
        self.number, self.tallies, self.known, self.drawn = state["number"], tallies, known, []
