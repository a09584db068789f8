"""What a person sees of a run: a live bar with predictions on a terminal, a line per evaluation elsewhere.

>>> distribution(((1, 1, 0.25), (2, 1, 0.75)))
'drawn (2, 1) 75 %, (1, 1) 25 %'
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from execlab.errors import ExeclabError
from execlab.progress import Bar, Rate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from types import TracebackType

    from execlab.tasks import Sample
    from execlab.training.config import Config
    from execlab.training.metrics import Metrics, Shares

SECONDS_BETWEEN_PREDICTIONS = 10.0
DIFFICULTIES = 4  # that a line names, those with the largest shares


class View:
    """Silent: the view of a run that nobody watches, and the contract of the others."""

    def begin(self, config: Config, parameters: int, step: int) -> None:
        """A run starts or is resumed."""

    def __enter__(self) -> View:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """The loop has ended."""

    def advance(self, step: int, characters: int, used: float) -> None:
        """A step is done."""

    def evaluated(self, metrics: Metrics, predictions: Callable[[], list[tuple[Sample, str]]]) -> None:
        """An evaluation is done; `predictions` makes a few on demand."""

    def say(self, sentence: str) -> None:
        """Show a message."""


def _in_words(options: Mapping[str, object]) -> str:
    return ", ".join(
        f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}" for name, value in options.items()
    )


def summary(metrics: Metrics) -> str:
    """An evaluation in one line."""
    return (
        f"step {metrics.step:>7,}  samples {metrics.samples:>9,}  length {metrics.length} nesting {metrics.nesting}  "
        f"loss {metrics.loss:.3f}  current {metrics.current_teacher_forced_accuracy:.1%}  "
        f"goal {metrics.goal_teacher_forced_accuracy:.1%}"
    )


def distribution(shares: Shares | None) -> str:
    """The difficulties that an adaptive strategy drew most since the last evaluation; empty for other strategies."""
    largest = sorted(shares or (), key=lambda entry: -entry[2])
    parts = [
        f"({length}, {nesting}) {share:.0%}".replace("%", " %") for length, nesting, share in largest[:DIFFICULTIES]
    ]
    more = [f"{len(largest) - DIFFICULTIES} more"] if len(largest) > DIFFICULTIES else []
    return f"drawn {', '.join(parts + more)}" if parts else ""


class Lines(View):
    """A plain line per evaluation, on standard error."""

    def __init__(self) -> None:
        self.characters = Rate()
        self.budget = Rate(total=1.0)

    def begin(self, config: Config, parameters: int, step: int) -> None:  # noqa: ARG002
        """Say what is trained."""
        options = f"{parameters:,} parameters ({_in_words(config.model_options)})"
        goal = f"{config.task}, length {config.length}, nesting {config.nesting}, {config.strategy}"
        threads = f"{config.threads} thread{'s' * (config.threads > 1)}"
        where = f"{config.device}, {config.precision}, {config.kernel} kernel, {threads}"
        self.say(f"{goal}; {config.model} with {options}; feed {config.feed}; {where}")

    def advance(self, step: int, characters: int, used: float) -> None:  # noqa: ARG002
        """Note how far the run is."""
        self.characters.update(characters)
        self.budget.update(used)

    def speed(self) -> str:
        """Characters per second and the remaining time."""
        return "  ".join(filter(None, [self.characters.speed("characters"), self.budget.remaining()]))

    def evaluated(self, metrics: Metrics, predictions: Callable[[], list[tuple[Sample, str]]]) -> None:  # noqa: ARG002
        """Print one line."""
        self.say("  ".join(filter(None, [summary(metrics), self.speed(), distribution(metrics.distribution)])))

    def say(self, sentence: str) -> None:
        """Print one line."""
        print(sentence, file=sys.stderr, flush=True)


class Live(Lines):
    """A bar at the bottom of a terminal, evaluations and predictions above it."""

    def __init__(self) -> None:
        super().__init__()
        self.bar = Bar()
        self.shown = 0.0
        self.last = ""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the bar."""
        self.bar.close()

    def advance(self, step: int, characters: int, used: float) -> None:
        """Move the bar."""
        super().advance(step, characters, used)
        self.bar.show(used, f"step {step:,}  {self.speed()}  {self.last}")

    def evaluated(self, metrics: Metrics, predictions: Callable[[], list[tuple[Sample, str]]]) -> None:
        """Update the bar; every few seconds show some predictions."""
        self.last = (
            f"({metrics.length}, {metrics.nesting}) {metrics.current_teacher_forced_accuracy:.1%}"
            f"  goal {metrics.goal_teacher_forced_accuracy:.1%}"
        )
        now = time.monotonic()
        if now - self.shown < SECONDS_BETWEEN_PREDICTIONS:
            return
        self.shown = now
        from rich.text import Text

        self.bar.say(Text(summary(metrics), style="bold"))
        if drawn := distribution(metrics.distribution):
            self.bar.say(Text(f"  {drawn}"))
        for sample, prediction in predictions():
            right = prediction == sample.target
            colour, sign = ("green", "=") if right else ("red", "x")
            text = Text(f"  Input: {sample.input!r}  Target: {sample.target}  Prediction: ")
            self.bar.say(text.append(f"{prediction} {sign}", style=colour))

    def say(self, sentence: str) -> None:
        """Print a line above the bar."""
        self.bar.say(sentence)


def best_view() -> View:
    """The live view on a terminal, lines elsewhere."""
    return Live() if sys.stderr.isatty() else Lines()


class TensorBoard(View):
    """Writes event files for TensorBoard, and shows the run in another view."""

    def __init__(self, inner: View, folder: Path) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise ExeclabError("--tensorboard needs tensorboard: pip install 'execlab[tensorboard]'") from None
        self.inner, self.folder, self.open = inner, folder, SummaryWriter

    def begin(self, config: Config, parameters: int, step: int) -> None:
        """Open the event file: the run's folder exists by now."""
        self.writer = self.open(str(self.folder / "tensorboard"), purge_step=step)
        self.inner.begin(config, parameters, step)

    def __enter__(self) -> View:
        self.inner.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Pass it on to the other view."""
        self.inner.__exit__(kind, error, trace)
        self.writer.close()

    def advance(self, step: int, characters: int, used: float) -> None:
        """Pass it on to the other view."""
        self.inner.advance(step, characters, used)

    def evaluated(self, metrics: Metrics, predictions: Callable[[], list[tuple[Sample, str]]]) -> None:
        """Write every number; the distribution of difficulties has no place in it."""
        for name, value in metrics.numbers().items():
            if name != "step":
                self.writer.add_scalar(name, value, metrics.step)
        self.inner.evaluated(metrics, predictions)

    def say(self, sentence: str) -> None:
        """Pass it on to the other view."""
        self.inner.say(sentence)
