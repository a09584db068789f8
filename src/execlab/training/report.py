"""The end of a run: its test score, taken once, and a page that says what happened."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from execlab.data.sampling import Source
from execlab.data.splits import DATA_VERSION
from execlab.evaluation.evaluate import evaluate
from execlab.evaluation.mistakes import sentence
from execlab.evaluation.scores import Score, is_right
from execlab.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from execlab.evaluation.decoding import Reader
    from execlab.evaluation.evaluate import Evaluation
    from execlab.training.config import Config

EXAMPLES = 12


def percent(found: Score) -> str:
    """A score for people."""
    return f"{found.value:.2%} ({found.low:.2%} to {found.high:.2%}, n={found.n:,})"


def final_score(config: Config, reader: Reader) -> Evaluation:
    """The score of a run's model: on the test split, at the goal."""
    source = Source(
        config.make_task(), config.goal, "test", config.data_seed, scramble=config.scramble, purpose="report"
    )
    return evaluate(reader, source, config.test_count)


def write_report(
    folder: Path,
    config: Config,
    reader: Reader,
    counters: dict[str, Any],
    say: Callable[[str], None],
    check: Callable[[], None] = lambda: None,
) -> None:
    """Score on the test split at the goal, and write report.json and report.md."""
    found = final_score(config, reader)
    examples = list(zip(found.samples, found.answers, strict=True))[:EXAMPLES]
    data = {"counters": counters, "test": found.as_dict(), "config": asdict(config), "data_version": DATA_VERSION}
    spent = (
        f"{counters['samples']:,} samples, {counters['characters']:,} characters, {counters['step']:,} steps, "
        f"{counters['seconds']:,.0f} s of training; ended because {counters['finished']}."
    )
    lines = [
        f"# {config.task}, length {config.length}, nesting {config.nesting}, {config.strategy}",
        "",
        spent,
        "",
        "| on the test split, at the goal | 95 % interval |",
        "|---|---|",
        *(f"| {name.replace('_', ' ')} | {percent(value)} |" for name, value in found.scores._asdict().items()),
        f"| chance | {found.chance:.2%} |",
        f"| most frequent character per position | {found.guess:.2%} |",
        "",
        "## The first test samples",
        "",
    ]
    for sample, said in examples:
        if is_right(sample, said):
            lines.append(f"- right: `{sample.input!r}` gives {sample.target}")
        else:
            lines.append(f"- wrong: {sentence(sample.input, sample.target, said.free_running)}")
    write_atomically(folder / "report.md", ("\n".join(lines) + "\n").encode(), check, root=folder)
    # Last: a run with this file is finished.
    write_atomically(folder / "report.json", (json.dumps(data, indent=2) + "\n").encode(), check, root=folder)
    for name, value in found.scores._asdict().items():
        say(f"test {name.replace('_', ' ')}: {percent(value)}")
