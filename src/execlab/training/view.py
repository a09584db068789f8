"""What a person sees of a run: a live bar with predictions on a terminal, a line per evaluation elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

from execlab.errors import ExeclabError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from types import TracebackType

    from execlab.tasks import Sample
    from execlab.training.config import Config

SECONDS_BETWEEN_PREDICTIONS = 10.0


class View:
    """Silent: the view of a run that nobody watches, and the contract of the others."""

    def begin(self, config: Config, parameters: int, step: int) -> None:
        """A run starts or goes on."""

    def __enter__(self) -> View:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """The loop is over."""

    def advance(self, step: int, characters: int, used: float) -> None:
        """A step is done."""

    def evaluated(self, line: dict[str, Any], predictions: Callable[[], list[tuple[Sample, str]]]) -> None:
        """An evaluation is done; `predictions` makes a few on demand."""

    def say(self, sentence: str) -> None:
        """Something worth a sentence."""


def _in_words(options: Mapping[str, object]) -> str:
    return ", ".join(
        f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}" for name, value in options.items()
    )


def summary(line: dict[str, Any]) -> str:
    """An evaluation in one line."""
    return (
        f"step {line['step']:>7,}  samples {line['samples']:>9,}  length {line['length']} nesting {line['nesting']}  "
        f"loss {line['loss']:.3f}  current {line['current_teacher_forced_accuracy']:.1%}  "
        f"goal {line['goal_teacher_forced_accuracy']:.1%}"
    )


class Lines(View):
    """A plain line per evaluation, on standard error."""

    def __init__(self) -> None:
        self.started, self.first, self.rate = time.monotonic(), -1, 0.0
        self.left = ""

    def begin(self, config: Config, parameters: int, step: int) -> None:  # noqa: ARG002
        """Say what is trained."""
        options = f"{parameters:,} parameters ({_in_words(config.model_options)})"
        goal = f"{config.task}, length {config.length}, nesting {config.nesting}, {config.strategy}"
        threads = f"{config.threads} thread{'s' * (config.threads > 1)}"
        where = f"{config.device}, {config.precision}, {config.kernel} kernel, {threads}"
        self.say(f"{goal}; {config.model} with {options}; feed {config.feed}; {where}")

    def advance(self, step: int, characters: int, used: float) -> None:  # noqa: ARG002
        """Keep the rate and what is left."""
        now = time.monotonic()
        if self.first < 0:
            self.started, self.first, self.first_used = now, characters, used
            return
        elapsed = max(now - self.started, 1e-9)
        self.rate = (characters - self.first) / elapsed
        if used > self.first_used:
            self.left = f"  {elapsed * (1 - used) / (used - self.first_used):,.0f} s left"

    def evaluated(self, line: dict[str, Any], predictions: Callable[[], list[tuple[Sample, str]]]) -> None:  # noqa: ARG002
        """One line."""
        self.say(f"{summary(line)}  {self.rate:,.0f} characters/s{self.left}")

    def say(self, sentence: str) -> None:
        """One line."""
        print(sentence, file=sys.stderr, flush=True)


class Live(Lines):
    """A bar at the bottom of a terminal, evaluations and predictions above it."""

    def __init__(self) -> None:
        super().__init__()
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        self.console = Console(stderr=True, highlight=False)
        self.bar = Progress(
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %  {task.description}"),
            console=self.console,
            transient=True,
        )
        self.task = self.bar.add_task("", total=1.0)
        self.shown = 0.0
        self.drawn = 0.0
        self.last = ""

    def __enter__(self) -> View:
        self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take the bar away."""
        self.bar.stop()

    def advance(self, step: int, characters: int, used: float) -> None:
        """Move the bar."""
        super().advance(step, characters, used)
        now = time.monotonic()
        if now - self.drawn > 0.2:
            self.drawn = now
            text = f"step {step:,}  {self.rate:,.0f} characters/s{self.left}  {self.last}"
            self.bar.update(self.task, completed=used, description=text)

    def evaluated(self, line: dict[str, Any], predictions: Callable[[], list[tuple[Sample, str]]]) -> None:
        """Update the bar; now and then show what the model says."""
        self.last = (
            f"({line['length']}, {line['nesting']}) {line['current_teacher_forced_accuracy']:.1%}"
            f"  goal {line['goal_teacher_forced_accuracy']:.1%}"
        )
        now = time.monotonic()
        if now - self.shown < SECONDS_BETWEEN_PREDICTIONS:
            return
        self.shown = now
        from rich.text import Text

        self.console.print(Text(summary(line), style="bold"))
        for sample, said in predictions():
            right = said == sample.target
            colour, sign = ("green", "=") if right else ("red", "x")
            text = Text(f"  Input: {sample.input!r}  Target: {sample.target}  Prediction: ")
            self.console.print(text.append(f"{said} {sign}", style=colour))

    def say(self, sentence: str) -> None:
        """Above the bar."""
        from rich.text import Text

        self.console.print(Text(sentence))


def best_view() -> View:
    """Live on a terminal, lines elsewhere."""
    return Live() if sys.stderr.isatty() else Lines()


class TensorBoard(View):
    """Another view, and event files beside the metrics."""

    def __init__(self, inner: View, folder: Path) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise ExeclabError("--tensorboard needs tensorboard: pip install 'execlab[tensorboard]'") from None
        self.inner, self.folder, self.open = inner, folder, SummaryWriter

    def begin(self, config: Config, parameters: int, step: int) -> None:
        """Open the event file: the run's folder is there by now."""
        self.writer = self.open(str(self.folder / "tensorboard"), purge_step=step)
        self.inner.begin(config, parameters, step)

    def __enter__(self) -> View:
        self.inner.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Pass on."""
        self.inner.__exit__(kind, error, trace)
        self.writer.close()

    def advance(self, step: int, characters: int, used: float) -> None:
        """Pass on."""
        self.inner.advance(step, characters, used)

    def evaluated(self, line: dict[str, Any], predictions: Callable[[], list[tuple[Sample, str]]]) -> None:
        """Write every number."""
        for name, value in line.items():
            if name != "step" and isinstance(value, int | float):
                self.writer.add_scalar(name, value, line["step"])
        self.inner.evaluated(line, predictions)

    def say(self, sentence: str) -> None:
        """Pass on."""
        self.inner.say(sentence)
