"""An honest evaluation: the three accuracies, what guessing would give, and where the mistakes are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from execlab.data.scramble import unscramble
from execlab.data.statistics import guess_accuracy, most_frequent
from execlab.evaluation import mistakes
from execlab.evaluation.decoding import Answer, Reader, answer
from execlab.evaluation.scores import SCORING, Scores, score
from execlab.tasks import Sample

if TYPE_CHECKING:
    from execlab.data.sampling import Source


def chance(task: str) -> float:
    """The share of output characters that a blind guess gets right: ten digits, the end mark, in programs a minus."""
    return 1 / (12 if task == "program" else 11)


@dataclass(frozen=True)
class Evaluation:
    """The scores on one source of samples, and what they were made from."""

    scores: Scores
    chance: float
    guess: float  # the most frequent character per position, learned on train
    samples: list[Sample]  # unscrambled
    answers: list[Answer]

    def as_dict(self, task: str) -> dict[str, Any]:
        """For JSON."""
        pairs = self.samples, self.answers
        found: dict[str, Any] = {
            **{name: value._asdict() for name, value in self.scores._asdict().items()},
            "scoring": SCORING,
            "chance": self.chance,
            "most_frequent_character": self.guess,
            "by_position": [place._asdict() for place in mistakes.by_position(*pairs)],
            "kinds_of_error": mistakes.kinds(*pairs),
        }
        if task == "addition":
            found["by_carries"] = _plain(mistakes.grouped(*pairs, lambda text: [mistakes.carries(text)]))
            chains = mistakes.grouped(*pairs, lambda text: [mistakes.longest_carry_chain(text)])
            found["by_longest_carry_chain"] = _plain(chains)
        if task == "program":
            found["by_operation"] = _plain(mistakes.grouped(*pairs, mistakes.operations))
        return found


def _plain(groups: dict[str, Any]) -> dict[str, Any]:
    return {name: value._asdict() for name, value in groups.items()}


def evaluate(reader: Reader, source: Source, count: int) -> Evaluation:
    """Score `count` samples of a source."""
    samples = [row.sample for row in source.rows(stop=count)]
    answers = answer(reader, samples)
    train = replace(source, split="train", purpose="guess")
    guess = guess_accuracy(most_frequent(row.sample for row in train.rows(stop=max(count, 2_000))), samples)
    scores = score(samples, answers)
    if source.scramble is not None:
        seed = source.scramble
        samples = [unscramble(seed, sample) for sample in samples]
        answers = [_unscrambled(seed, found) for found in answers]
    return Evaluation(scores, chance(source.task.name), guess, samples, answers)


def _unscrambled(seed: int, found: Answer) -> Answer:
    texts = unscramble(seed, Sample(found.teacher_forced, found.free_running))
    return found._replace(teacher_forced=texts.input, free_running=texts.target)
