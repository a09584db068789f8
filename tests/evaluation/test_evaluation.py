"""Decoding, scores, kinds of error: each against something slow or by hand."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import pytest
import torch

from execlab.data.batches import encode
from execlab.data.sampling import Source
from execlab.data.vocabulary import VOCABULARY
from execlab.evaluation import mistakes
from execlab.evaluation.decoding import Answer, Reader, answer, spell
from execlab.evaluation.evaluate import evaluate
from execlab.evaluation.scores import exact, is_right, matches, ratio, score, whole
from execlab.models.lstm import LSTM
from execlab.tasks import Difficulty, Sample
from execlab.tasks.addition import AdditionTask
from execlab.tasks.memorization import MemorizationTask
from execlab.tasks.program import ProgramTask

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execlab.models.model import State


def model() -> LSTM:
    """Untrained, but with strong opinions."""
    made = LSTM(len(VOCABULARY), LSTM.Options(layers=2, cells=24, embedding=12, init=0.9))
    made.initialize(7)
    return made.eval()


@torch.no_grad()
def slowly(reader: Reader, sample: Sample) -> Answer:
    """One sample, one character at a time, past the reader's own way of reading."""

    def read(character: str, state: State) -> tuple[str, State]:
        """What follows, and the state after the character."""
        features, state = reader.model(torch.from_numpy(encode(character)), torch.tensor([1]), state)
        return VOCABULARY[int(reader.model.logits(features).argmax())], state

    state = reader.model.start(1)
    for character in reader.prompt + sample.input:
        _, state = read(character, state)
    forced, own, ended = "", "", False
    after_input = state
    for character in "." + sample.target:
        following, state = read(character, state)
        forced += following
    state, last = after_input, "."
    for _ in range(200):
        last, state = read(last, state)
        if last == ".":
            ended = True
            break
        own += last
    return Answer(forced, own, ended)


@pytest.mark.parametrize("prompt", ["", "print(1+1).2."])
def test_batched_answers_equal_slow_ones(prompt: str) -> None:
    reader = Reader(model(), prompt)
    samples = [row.sample for row in Source(ProgramTask(), Difficulty(4, 3), "test", strategy="mix").rows(stop=300)]
    for sample, found in list(zip(samples, answer(reader, samples), strict=True))[::7]:
        slow = slowly(reader, sample)
        assert found.teacher_forced == slow.teacher_forced
        assert slow.free_running.startswith(found.free_running)
        if found.ended:
            assert slow.free_running == found.free_running


def test_spelling_agrees_with_answers() -> None:
    reader = Reader(model())
    for row in Source(AdditionTask(), Difficulty(3), "test").rows(stop=10):
        (found,) = answer(reader, [row.sample])
        forced = spell(reader, row.sample.input, target=row.sample.target)
        assert "".join(c.character for c in forced) == found.teacher_forced
        assert all(c.probability >= max(share for _, share in c.alternatives) for c in forced)
        own = "".join(c.character for c in spell(reader, row.sample.input)).rstrip(".")
        assert own.startswith(found.free_running)


def test_scores_by_hand() -> None:
    samples = [Sample("", "12"), Sample("", "345")]
    answers = [Answer("12.", "12", True), Answer("3x5.", "3", True)]
    found = score(samples, answers)
    assert found.teacher_forced_accuracy.value == 6 / 7
    assert found.free_running_accuracy.value == 4 / 7
    assert found.exact_match.value == 1 / 2
    assert not is_right(samples[0], Answer("12.", "12", False))


def test_exact_match_is_known_without_running_free() -> None:
    """A model whose answers are sometimes right: the same samples are right either way."""
    network = model()
    with torch.no_grad():
        network.output_bias[VOCABULARY.index(".")] += 2.0  # so that it comes to an end sometimes
    reader = Reader(network)
    drawn = [row.sample for row in Source(MemorizationTask(), Difficulty(2), "test").rows(stop=200)]
    # Ask for what the model says anyway, so that some are right.
    said = [found.free_running for found in answer(reader, drawn)]
    samples = [Sample(s.input, text[: 1 + i % 6]) for i, (s, text) in enumerate(zip(drawn, said, strict=True))]
    answers = answer(reader, samples)
    assert whole(samples, answers) == [is_right(s, a) for s, a in zip(samples, answers, strict=True)]
    assert 0 < sum(whole(samples, answers)) < len(samples)


def test_matches() -> None:
    assert matches("12.", "12") == 3
    assert matches("", "12") == 0
    assert matches("1234", "12") == 2


def test_intervals() -> None:
    wilson = exact([True] * 8 + [False] * 2)
    assert (wilson.low, wilson.high) == pytest.approx((0.4901, 0.9433), abs=1e-3)
    assert exact([True] * 50).high == 1.0
    assert exact([True] * 50).low == pytest.approx(0.9287, abs=1e-3)
    right, total = [0, 2, 4, 4] * 25, [4] * 100
    found = ratio(right, total)
    spread = sqrt(sum((r - 2.5) ** 2 for r in right) / 99 / 100) / 4
    assert found.value == 0.625
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * spread, rel=0.03)
    assert ratio([3, 3], [3, 3]).low < 1.0


def test_the_interval_covers_the_truth() -> None:
    """Of 400 intervals for a known share, about 95 % hold it."""
    from execlab.randomness import stream

    rng, held = stream("coverage"), 0
    for _ in range(400):
        found = exact([rng.random() < 0.8 for _ in range(200)])
        held += found.low <= 0.8 <= found.high
    assert 0.92 <= held / 400 <= 0.98


@pytest.mark.parametrize(
    ("target", "said", "kind"),
    [
        ("-12", "12", "sign"),
        ("12", "-12", "sign"),
        ("123", "23", "length of output"),
        ("123", "", "length of output"),
        ("142", "132", "carry"),
        ("1000", "2000", "carry"),
        ("200", "190", "carry"),
        ("142", "143", "single digit"),
        ("142", "172", "single digit"),
        ("142", "275", "other"),
        ("142", "1(2", "other"),
    ],
)
def test_kinds_of_error(target: str, said: str, kind: str) -> None:
    assert mistakes.kind_of("", target, said) == kind


@pytest.mark.parametrize(
    ("text", "carries", "chain"),
    [("print(123+456)", 0, 0), ("print(999+1)", 3, 3), ("print(505+505)", 2, 1), ("print(95+17)", 2, 2), ("7", 0, 0)],
)
def test_carries(text: str, carries: int, chain: int) -> None:
    groups = AdditionTask().groups(Sample(text, ""))
    assert groups == {"carries": [str(carries)], "longest_carry_chain": [str(chain)]}


def test_operations() -> None:
    """From the generator's own list, in every dialect."""
    for dialect in ("released", "appendix"):
        source = Source(ProgramTask(dialect=dialect), Difficulty(2, 3), "test")
        for row in source.rows(stop=200):
            drawn = set(row.sample.operations)
            assert source.task.groups(row.sample) == {"operation": sorted(drawn)}
            assert ("loop" in drawn) == ("for x" in row.sample.input) or dialect == "appendix"  # may drop dead code
            if dialect == "released":
                assert ("assignment" in drawn) == (";" in row.sample.input)
    assert ProgramTask().groups(Sample("print(1)", "1")) == {"operation": ["not drawn by the generator"]}


def test_sentences() -> None:
    assert mistakes.sentence("print(17+25)", "42", "41") == "claims 17+25=41, it is 42"


@pytest.mark.parametrize("scramble", [None, 3])
def test_an_evaluation_is_complete(scramble: int | None) -> None:
    for task, keys in (
        (AdditionTask(), {"by_carries", "by_longest_carry_chain"}),
        (ProgramTask(), {"by_operation"}),
        (MemorizationTask(), set[str]()),
    ):
        found = evaluate(Reader(model()), Source(task, Difficulty(3), "test", scramble=scramble), 60)
        data = found.scorecard().to_json()
        assert keys <= set(data)
        assert sum(data["kinds_of_error"].values()) == sum(
            not is_right(s, a) for s, a in zip(found.samples, found.answers, strict=True)
        )
        assert data["chance"] == pytest.approx(1 / 12 if task.name == "program" else 1 / 11)
        assert 0.1 < data["most_frequent_character"] < 0.6
        assert all(task.solve(sample.input) == sample.target for sample in found.samples)
        forced = data["teacher_forced_accuracy"]["value"]
        places: Sequence[dict[str, float]] = data["by_position"]
        total = sum(place["n"] for place in places)
        assert forced == pytest.approx(sum(place["value"] * place["n"] for place in places) / total)
