"""An honest evaluation: the three accuracies, what guessing would give, and where the mistakes are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from execlab.data.scramble import unscramble
from execlab.data.splits import DATA_VERSION
from execlab.data.statistics import guess_accuracy, most_frequent
from execlab.errors import ExeclabError
from execlab.evaluation import mistakes
from execlab.evaluation.decoding import Answer, Reader, answer
from execlab.evaluation.scorecard import Scorecard
from execlab.evaluation.scores import SCORING, Scores, score
from execlab.tasks import Sample, Task

if TYPE_CHECKING:
    from execlab.data.sampling import Source


def chance(task: Task) -> float:
    """The share of output characters that a blind guess gets right, the end mark included."""
    return 1 / (len(task.outputs) + 1)


@dataclass(frozen=True)
class Evaluation:
    """The scores on one source of samples, and what they were made from."""

    task: Task
    scores: Scores
    chance: float
    guess: float  # the most frequent character per position, learned on train
    samples: list[Sample]  # unscrambled
    answers: list[Answer]

    def scorecard(self) -> Scorecard:
        """What is recorded of it."""
        pairs = self.samples, self.answers
        return Scorecard(
            self.scores,
            self.chance,
            self.guess,
            SCORING,
            mistakes.by_position(self.task, *pairs),
            mistakes.kinds(self.task, *pairs),
            mistakes.grouped(self.task, *pairs),
            mistakes.work_score(self.task, *pairs),
        )


def check_scorable(reader: Reader, name: str = "this model") -> None:
    """Raise if a model's training samples are in every split of today."""
    if reader.data_version != DATA_VERSION:
        raise ExeclabError(
            f"{name} was trained on data version {reader.data_version}, whose training samples are in every split of "
            f"version {DATA_VERSION}, so it is not scored here; its report has its score, and execlab predict asks it"
        )


def evaluate(reader: Reader, source: Source, count: int) -> Evaluation:
    """Score `count` samples of a source."""
    check_scorable(reader)
    samples = [row.sample for row in source.rows(stop=count)]
    answers = answer(reader, samples)
    train = replace(source, split="train", purpose="guess")
    guess = guess_accuracy(most_frequent(row.sample for row in train.rows(stop=max(count, 2_000))), samples)
    if source.scramble is not None:
        seed, vocabulary = source.scramble, reader.vocabulary
        samples = [unscramble(seed, sample, vocabulary) for sample in samples]
        answers = [_unscrambled(seed, printed, vocabulary) for printed in answers]
    scores = score(samples, answers, source.task.answer)
    return Evaluation(source.task, scores, chance(source.task), guess, samples, answers)


def _unscrambled(seed: int, printed: Answer, vocabulary: str) -> Answer:
    texts = unscramble(seed, Sample(printed.teacher_forced, printed.free_running), vocabulary)
    return printed._replace(teacher_forced=texts.input, free_running=texts.target)
