"""The end of a run: its test score, taken once, and a page that says what happened."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from execlab.data.sampling import Source
from execlab.data.splits import DATA_VERSION
from execlab.errors import ExeclabError
from execlab.evaluation.evaluate import evaluate
from execlab.evaluation.mistakes import sentence
from execlab.evaluation.scorecard import Scorecard, as_object, number, read_scorecard
from execlab.evaluation.scores import Score, is_right
from execlab.files import LARGEST, read_regular, write_atomically
from execlab.training.config import Config, config_from_dict
from execlab.training.state import Counters, read_counters

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from execlab.evaluation.decoding import Reader
    from execlab.evaluation.evaluate import Evaluation

EXAMPLES = 12
_COUNTED = ("step", "samples", "characters", "seconds")


@dataclass(frozen=True)
class Report:
    """The content of report.json: what was spent, what was reached, and the Config."""

    counters: Counters
    test: Scorecard
    config: Config
    data_version: int = DATA_VERSION

    def to_json(self) -> dict[str, Any]:
        """The report as JSON."""
        return {
            "counters": self.counters.to_json(),
            "test": self.test.to_json(),
            "config": asdict(self.config),
            "data_version": self.data_version,
        }


def report_from(values: object, where: object) -> Report:
    """A report from its JSON, of this version or an older one."""
    values = as_object(values, where)
    counters = as_object(values.get("counters"), where)
    for name in _COUNTED:
        number(counters, name, where)
    try:
        config = config_from_dict({"kernel": "torch", **as_object(values.get("config"), where)})
        counted = read_counters(counters, config.goal)
    except TypeError:
        raise ExeclabError(f"{where} has another shape than execlab writes") from None
    version = int(number({"data_version": 1, **values}, "data_version", where))
    return Report(counted, read_scorecard(values.get("test"), where), config, version)


def read_report(path: Path, largest: int = LARGEST) -> Report:
    """The report in a file of at most `largest` bytes."""
    try:
        values = json.loads(read_regular(path, largest))
    except ExeclabError:
        raise
    except (ValueError, RecursionError):
        raise ExeclabError(f"{path} is damaged: it is not JSON") from None
    return report_from(values, path)


def percent(score: Score) -> str:
    """A score for people."""
    return f"{score.value:.2%} ({score.low:.2%} to {score.high:.2%}, n={score.n:,})"


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
    counters: Counters,
    say: Callable[[str], None],
    check: Callable[[], None] = lambda: None,
) -> None:
    """Score on the test split at the goal, and write report.json and report.md."""
    result = final_score(config, reader)
    examples = list(zip(result.samples, result.answers, strict=True))[:EXAMPLES]
    report = Report(counters, result.scorecard(), config)
    spent = (
        f"{counters.samples:,} samples, {counters.characters:,} characters, {counters.step:,} steps, "
        f"{counters.seconds:,.0f} s of training; ended because {counters.finished}."
    )
    lines = [
        f"# {config.task}, length {config.length}, nesting {config.nesting}, {config.strategy}",
        "",
        spent,
        "",
        "| on the test split, at the goal | 95 % interval |",
        "|---|---|",
        *(f"| {name.replace('_', ' ')} | {percent(value)} |" for name, value in result.scores._asdict().items()),
        *([f"| whole work right | {percent(report.test.work.accuracy)} |"] if report.test.work else []),
        f"| chance | {result.chance:.2%} |",
        f"| most frequent character per position | {result.guess:.2%} |",
        "",
        "## The first test samples",
        "",
    ]
    for sample, printed in examples:
        true, answer = (result.task.answer(text) for text in (sample.target, printed.free_running))
        if is_right(sample, printed, result.task.answer):
            lines.append(f"- right: `{sample.input!r}` gives {true}")
        else:
            lines.append(f"- wrong: {sentence(sample.input, true, answer)}")
    write_atomically(folder / "report.md", ("\n".join(lines) + "\n").encode(), check, root=folder)
    # Last: a run with this file is finished.
    data = (json.dumps(report.to_json(), indent=2) + "\n").encode()
    write_atomically(folder / "report.json", data, check, root=folder)
    for name, value in result.scores._asdict().items():
        say(f"test {name.replace('_', ' ')}: {percent(value)}")
