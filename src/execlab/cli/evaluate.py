"""The commands that ask a trained network: evaluate, predict, compare."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from execlab.cli.endpoint import ENDPOINT, as_whole, default_folder, evaluate_endpoint, make_plan
from execlab.cli.options import JSON, choice, together, trust
from execlab.data.sampling import STATIC_STRATEGIES
from execlab.data.splits import DATA_VERSION, SPLITS
from execlab.errors import ExeclabError, needs_torch
from execlab.files import write_atomically
from execlab.tasks import Difficulty

if TYPE_CHECKING:
    from execlab.evaluation.evaluate import Evaluation
    from execlab.training.config import Config
    from execlab.training.load import Executor

RUN = click.argument("run", type=click.Path(path_type=Path))
SAMPLES = together(
    choice("--split", SPLITS, "From which split.", "test"),
    click.option("--length", type=int, help="Another length than the run's goal."),
    click.option("--nesting", type=int, help="Another nesting than the run's goal."),
    choice("--strategy", STATIC_STRATEGIES, "baseline: this difficulty; mix: anything up to it.", "baseline"),
    click.option("--count", type=click.IntRange(min=1), default=2_000, show_default=True, help="How many samples."),
    click.option("--seed", type=int, default=0, show_default=True, help="Which samples."),
)


WHERE = together(
    choice("--split", SPLITS, "From which split.", "test"),
    click.option("--length", help="Another length than the run's goal."),
    click.option("--nesting", help="Another nesting than the run's goal."),
    choice("--strategy", STATIC_STRATEGIES, "baseline: this difficulty; mix: anything up to it.", "baseline"),
    click.option("--count", type=click.IntRange(min=1), default=2_000, show_default=True, help="How many samples."),
    click.option("--seed", type=int, default=0, show_default=True, help="Which samples."),
)


def _evaluate(executor: Executor, goal: Difficulty, split: Any, strategy: str, count: int, seed: int) -> Evaluation:
    from execlab.data.sampling import Source
    from execlab.evaluation.evaluate import check_scorable, evaluate

    config = executor.config
    check_scorable(executor.reader, str(executor.where))
    source = Source(config.make_task(), goal, split, seed, strategy, config.scramble, purpose="evaluate")
    return evaluate(executor.reader, source, count)


def _goal(config: Config, length: int | None, nesting: int | None) -> Difficulty:
    return Difficulty(config.length if length is None else length, config.nesting if nesting is None else nesting)


@click.command()
@click.argument("run", required=False, type=click.Path(path_type=Path))
@trust
@WHERE
@JSON
@ENDPOINT
@click.option(
    "--predictions", type=click.Path(path_type=Path), help="Write every sample with the answers to this file."
)
def evaluate(run: Path | None, as_json: bool, predictions: Path | None, **settings: Any) -> None:
    """Score a run honestly, or with --endpoint a language model.

    The paper's teacher-forced accuracy, free-running accuracy and exact match, each with its 95 % interval; beside
    them what guessing gives; and where the mistakes are.

    With --endpoint and --model: accuracy by length and nesting (ranges such as 1..6), --count rows each. Ctrl-C keeps
    what was answered; the same command goes on.
    """
    if settings["endpoint"] is not None:
        if run is not None:
            raise ExeclabError("give a run or --endpoint, not both")
        plan = make_plan({**settings, "predictions": predictions})
        evaluate_endpoint(plan, {**settings, "out": settings["out"] or default_folder(plan)}, as_json=as_json)
        return
    if run is None:
        raise ExeclabError("name the folder of a run, or an --endpoint")
    needs_torch()
    from execlab.evaluation.scorecard import Evaluated
    from execlab.training.load import load

    executor = load(run)
    config = executor.config
    goal = _goal(config, *(as_whole(name, settings[name]) for name in ("length", "nesting")))
    split, strategy, count, seed = (settings[name] for name in ("split", "strategy", "count", "seed"))
    result = _evaluate(executor, goal, split, strategy, count, seed)
    if predictions is not None:
        rows = [
            {"input": sample.input, "target": sample.target, **printed._asdict()}
            for sample, printed in zip(result.samples, result.answers, strict=True)
        ]
        write_atomically(predictions, "".join(json.dumps(row) + "\n" for row in rows).encode())
    evaluated = Evaluated(str(run), config.task, *goal, split, strategy, seed, DATA_VERSION, result.scorecard())
    if as_json:
        click.echo(json.dumps(evaluated.to_json(), indent=2))
    else:
        from execlab.tables import show_evaluation

        show_evaluation(evaluated)


@click.command()
@RUN
@trust
@click.argument("text")
@click.option("--teacher-forced", is_flag=True, help="Give the correct characters before each position, as the paper.")
@JSON
def predict(run: Path, text: str, teacher_forced: bool, as_json: bool) -> None:
    """Ask a run for the output of TEXT (- for standard input).

    TEXT is plain: the run's own modifications (invert, double, scramble, layout) are made for you.
    """
    needs_torch()
    from execlab.training.load import load

    if text == "-":
        text = sys.stdin.read(100_000).rstrip("\n")
    prediction = load(run).predict(text, teacher_forced=teacher_forced)
    if as_json:
        characters = [character._asdict() for character in prediction.characters]
        click.echo(
            json.dumps({**asdict(prediction), "characters": characters, "correct": prediction.correct}, indent=2)
        )
    else:
        from execlab.tables import show_prediction

        show_prediction(prediction, teacher_forced=teacher_forced)


@click.command()
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path))
@trust
@SAMPLES
@JSON
def compare(
    runs: tuple[Path, ...],
    split: str,
    length: int | None,
    nesting: int | None,
    strategy: str,
    count: int,
    seed: int,
    as_json: bool,
) -> None:
    """Score several runs on identical samples.

    The goal is that of the first run. Differences are to the first run, sample by sample, with their 95 % interval.
    """
    needs_torch()
    from execlab.evaluation.compare import Compared, differences
    from execlab.training.load import load

    executors = [load(run) for run in runs]
    first = executors[0].config
    for executor in executors[1:]:
        if (executor.config.task, executor.config.make_task().variant) != (first.task, first.make_task().variant):
            raise ExeclabError(f"{executor.where} was trained on another task than {executors[0].where}")
    goal = _goal(first, length, nesting)
    results = [_evaluate(executor, goal, split, strategy, count, seed) for executor in executors]
    rows = []
    for executor, result in zip(executors, results, strict=True):
        forced, whole = differences(result, results[0])
        rows.append(Compared(str(executor.where), result.scores, forced, whole))
    if as_json:
        click.echo(json.dumps([row.to_json() for row in rows], indent=2))
    else:
        from execlab.tables import show_comparison

        about = f"{first.task}, length {goal.length}, nesting {goal.nesting}, {split}, {strategy}, n={count:,}"
        show_comparison(about, rows)


COMMANDS = (evaluate, predict, compare)
