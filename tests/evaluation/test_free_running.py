"""Free-running accuracy: too much costs as too little, and an answer does not depend on its batch."""

from __future__ import annotations

import pytest
import torch

from execlab.data.vocabulary import END_MARK, VOCABULARY
from execlab.evaluation.decoding import WAIT, Answer, Reader, answer
from execlab.evaluation.evaluate import chance
from execlab.evaluation.scores import free_running
from execlab.models.lstm import LSTM
from execlab.tasks import Sample, make_task


@pytest.mark.parametrize(
    ("printed", "ended", "accuracy"),
    [
        ("12", True, 1.0),
        ("12345678", True, 2 / 9),  # before: 2/3
        ("1", True, 1 / 3),
        ("", True, 0.0),
        ("12", False, 2 / 3),
        ("12345678901", False, 2 / 11),
    ],
)
def test_accuracy_is_over_the_longer_text(printed: str, ended: bool, accuracy: float) -> None:
    found = free_running([Sample("", "12")], [Answer("12.", printed, ended)])
    assert found.value == pytest.approx(accuracy)


@pytest.mark.parametrize("shift", [-20.0, 0.0, 2.0])
def test_an_answer_does_not_depend_on_its_batch(shift: float) -> None:
    """Whether the end mark never comes, comes late, or comes soon."""
    network = LSTM(len(VOCABULARY), LSTM.Options(layers=2, cells=24, embedding=12, init=0.9))
    network.initialize(7)
    with torch.no_grad():
        network.output_bias[VOCABULARY.index(END_MARK)] += shift
    reader = Reader(network.eval())
    samples = [Sample(f"print({i})", "7" * (1 + i % 12)) for i in range(40)]
    together = answer(reader, samples)
    assert together == [answer(reader, [sample])[0] for sample in samples]
    for sample, found in zip(samples, together, strict=True):
        longest = len(sample.target) + 1 + WAIT
        assert len(found.free_running) < longest if found.ended else len(found.free_running) == longest
    if shift == -20.0:
        assert not any(found.ended for found in together)


def test_only_programs_print_a_minus() -> None:
    chances = {name: chance(make_task(name, {})) for name in ("addition", "memorization", "program")}
    assert chances == {"addition": 1 / 11, "memorization": 1 / 11, "program": 1 / 12}
