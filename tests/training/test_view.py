"""What the views show of a metrics line."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from execlab.training.metrics import Metrics
from execlab.training.view import Lines, TensorBoard, View, distribution

if TYPE_CHECKING:
    import pytest

LINE = Metrics(
    step=10,
    samples=320,
    characters=4_000,
    seconds=1.5,
    length=3,
    nesting=1,
    learning_rate=0.01,
    loss=1.5,
    training_teacher_forced_accuracy=0.4,
    current_teacher_forced_accuracy=0.5,
    goal_teacher_forced_accuracy=0.25,
    goal_exact_match=0.125,
)
ADAPTIVE = replace(LINE, distribution=tuple((length, 1, 0.1 * length) for length in range(1, 5)))


def test_a_line_names_the_difficulties_with_the_largest_shares(capsys: pytest.CaptureFixture[str]) -> None:
    view = Lines()
    view.evaluated(LINE, list)
    assert "drawn" not in capsys.readouterr().err
    view.evaluated(ADAPTIVE, list)
    assert "  drawn (4, 1) 40 %, (3, 1) 30 %, (2, 1) 20 %, (1, 1) 10 %\n" in capsys.readouterr().err
    assert distribution(tuple((n, 1, 0.1) for n in range(1, 11))).endswith(", 6 more")


def test_tensorboard_gets_the_numbers_alone() -> None:
    written: dict[str, float] = {}

    class Writer:
        def add_scalar(self, name: str, value: float, step: int) -> None:
            assert step == LINE.step
            written[name] = value

    view = TensorBoard.__new__(TensorBoard)  # without the package tensorboard
    view.inner, view.writer = View(), Writer()  # type: ignore[assignment]
    view.evaluated(ADAPTIVE, list)
    assert written == {name: value for name, value in LINE.numbers().items() if name != "step"}
