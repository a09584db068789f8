"""The commands that need a network: train, evaluate, predict, compare, curve."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from execlab.data.sampling import STATIC_STRATEGIES
from execlab.data.splits import SPLITS
from execlab.errors import ExeclabError, needs_torch
from execlab.files import read_regular, write_atomically
from execlab.tasks import TASKS, Difficulty
from execlab.training.config import BY_TASK, KINDS, PRESETS, SIZES, Config, choices, make_config

if TYPE_CHECKING:
    from collections.abc import Callable

    from execlab.evaluation.evaluate import Evaluation
    from execlab.training.load import Executor


def _flags(command: Callable[..., None]) -> Callable[..., None]:
    """A flag for every field of Config."""
    for found in reversed(fields(Config)):
        name, kind = found.name, KINDS[found.name]
        flag = "--" + name.replace("_", "-")
        told = ", ".join(_told(preset, name) for preset in PRESETS)
        text = f"{found.metadata['help']}  [{told}]"
        allowed = tuple(TASKS) if name == "task" else choices(name)
        if kind is bool:
            option = click.option(f"{flag}/--no-{flag[2:]}", name, default=None, help=text)
        else:
            option = click.option(flag, name, type=click.Choice(allowed) if allowed else kind, help=text)
        command = option(command)
    return command


def _told(preset: str, name: str) -> str:
    more = [f"{_shown(said[name])} for {task}" for (of, task), said in BY_TASK.items() if of == preset and name in said]
    own = f"{preset} {_shown(getattr(PRESETS[preset], name))}"
    return f"{own} ({', '.join(more)})" if more else own


def _shown(value: object) -> str:
    return "-" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _config(preset: str | None, size: str | None, file: Path | None, changes: dict[str, Any]) -> Config:
    if file is None:
        return make_config(preset or "laptop", size, **changes)
    if preset is not None or size is not None:
        raise ExeclabError("--config is a whole Config; leave out --preset and --size")
    try:
        said = json.loads(read_regular(file))
    except ExeclabError:
        raise
    except (ValueError, RecursionError):
        raise ExeclabError(f"{file} is not JSON") from None
    settings = said.get("config", said) if isinstance(said, dict) else None
    if not isinstance(settings, dict):
        raise ExeclabError(f"{file} holds no configuration of execlab")
    if strangers := sorted(set(settings) - {found.name for found in fields(Config)}):
        raise ExeclabError(f"{file} has a setting that this execlab does not know: {strangers[0][:40]!r}")
    return replace(Config(**settings), **changes)


@click.command()
@click.option("--preset", type=click.Choice(list(PRESETS)), help="Where to start from.  [default: laptop]")
@click.option(
    "--size",
    type=click.Choice(list(SIZES)),
    help="Layers and widths of the model.  [laptop: medium]",
)
@click.option("--config", "file", type=click.Path(path_type=Path), help="Replay the Config in this JSON file.")
@click.option(
    "--out", type=click.Path(path_type=Path), help="The run's folder.  [default: runs/TASK-LENGTHxNESTING-...]"
)
@click.option("--resume", "resumed", type=click.Path(path_type=Path), help="Go on with this run.")
@click.option("--force", is_flag=True, help="Start anew in a folder that holds a run.")
@click.option("--tensorboard", is_flag=True, help="Also write event files for TensorBoard.")
@_flags
def train(
    preset: str | None,
    size: str | None,
    file: Path | None,
    out: Path | None,
    resumed: Path | None,
    force: bool,
    tensorboard: bool,
    **settings: Any,
) -> None:
    """Train a network; stop it with Ctrl-C and go on with --resume.

    Every setting of a run is a flag; in brackets stand the values of the presets.
    """
    needs_torch()
    from execlab.training import loop
    from execlab.training.runs import default_folder
    from execlab.training.view import TensorBoard, best_view

    changes = {name: value for name, value in settings.items() if value is not None}
    view = best_view()
    if resumed is not None:
        if changes or preset or size or file or out or force:
            raise ExeclabError("--resume goes on with a run as it is; leave out the other settings")
        folder = resumed
    else:
        config = _config(preset, size, file, changes)
        folder = out or default_folder(config)
    if tensorboard:
        view = TensorBoard(view, folder)
    if resumed is not None:
        loop.resume(folder, view=view)
    else:
        loop.train(config, folder, force=force, view=view)
    if os.environ.get("RANK", "0") != "0" and os.environ.get("WORLD_SIZE", "1") != "1":
        return  # one of several processes; the first one draws
    _draw({folder.name: folder}, folder / "learning_curve.png", folder)
    click.echo(f"wrote {folder}; ask it: execlab predict {folder} ...")


def _draw(folders: dict[str, Path], path: Path, root: Path | None = None) -> None:
    from execlab.training.curves import learning_curve
    from execlab.training.runs import read_metrics

    curves = {name: read_metrics(folder) for name, folder in folders.items()}
    if curves := {name: lines for name, lines in curves.items() if lines}:
        try:
            learning_curve(curves, path, root=root)
        except ImportError:
            click.echo("no learning curve: matplotlib is not installed (pip install 'execlab[train]')", err=True)


RUN = click.argument("run", type=click.Path(path_type=Path))
WHICH_SAMPLES = (
    click.option("--split", type=click.Choice(SPLITS), default="test", show_default=True, help="From which split."),
    click.option("--length", type=int, help="Another length than the run's goal."),
    click.option("--nesting", type=int, help="Another nesting than the run's goal."),
    click.option(
        "--strategy",
        type=click.Choice(list(STATIC_STRATEGIES)),
        default="baseline",
        show_default=True,
        help="baseline: this difficulty; mix: anything up to it.",
    ),
    click.option("--count", type=click.IntRange(min=1), default=2_000, show_default=True, help="How many samples."),
    click.option("--seed", type=int, default=0, show_default=True, help="Which samples."),
)
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")


def _which_samples(command: Callable[..., None]) -> Callable[..., None]:
    """The options of a command that draws samples for a run."""
    for option in reversed(WHICH_SAMPLES):
        command = option(command)
    return command


def _evaluate(executor: Executor, goal: Difficulty, split: Any, strategy: str, count: int, seed: int) -> Evaluation:
    from execlab.data.sampling import Source
    from execlab.evaluation.evaluate import evaluate

    config = executor.config
    source = Source(config.make_task(), goal, split, seed, strategy, config.scramble, purpose="evaluate")
    return evaluate(executor.reader, source, count)


def _goal(config: Config, length: int | None, nesting: int | None) -> Difficulty:
    return Difficulty(config.length if length is None else length, config.nesting if nesting is None else nesting)


@click.command()
@RUN
@_which_samples
@JSON
@click.option(
    "--predictions", type=click.Path(path_type=Path), help="Write every sample with the answers to this file."
)
def evaluate(
    run: Path,
    split: str,
    length: int | None,
    nesting: int | None,
    strategy: str,
    count: int,
    seed: int,
    as_json: bool,
    predictions: Path | None,
) -> None:
    """Score a run honestly.

    The paper's teacher-forced accuracy, free-running accuracy and exact match, each with its 95 % interval; beside
    them what guessing gives; and where the mistakes are.
    """
    needs_torch()
    from execlab.training.load import load

    executor = load(run)
    config = executor.config
    goal = _goal(config, length, nesting)
    found = _evaluate(executor, goal, split, strategy, count, seed)
    if predictions is not None:
        rows = [
            {"input": sample.input, "target": sample.target, **printed._asdict()}
            for sample, printed in zip(found.samples, found.answers, strict=True)
        ]
        write_atomically(predictions, "".join(json.dumps(row) + "\n" for row in rows).encode())
    about = {"run": str(run), "task": config.task, **goal._asdict(), "split": split, "strategy": strategy, "seed": seed}
    if as_json:
        click.echo(json.dumps({**about, **found.as_dict(config.task)}, indent=2))
    else:
        from execlab.tables import show_evaluation

        show_evaluation(about, found.as_dict(config.task))


@click.command()
@RUN
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
    found = load(run).predict(text, teacher_forced=teacher_forced)
    if as_json:
        characters = [character._asdict() for character in found.characters]
        click.echo(json.dumps({**asdict(found), "characters": characters, "correct": found.correct}, indent=2))
    else:
        from execlab.tables import show_prediction

        show_prediction(found, teacher_forced=teacher_forced)


@click.command()
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path))
@_which_samples
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
    from execlab.evaluation.compare import differences
    from execlab.training.load import load

    executors = [load(run) for run in runs]
    first = executors[0].config
    for executor in executors[1:]:
        if (executor.config.task, executor.config.dialect) != (first.task, first.dialect):
            raise ExeclabError(f"{executor.where} was trained on another task than {executors[0].where}")
    goal = _goal(first, length, nesting)
    found = [_evaluate(executor, goal, split, strategy, count, seed) for executor in executors]
    rows = []
    for executor, one in zip(executors, found, strict=True):
        forced, whole = differences(one, found[0])
        scores = {name: value._asdict() for name, value in one.scores._asdict().items()}
        gaps = {"teacher_forced_difference": forced._asdict(), "exact_match_difference": whole._asdict()}
        rows.append({"run": str(executor.where), **scores, **gaps})
    if as_json:
        click.echo(json.dumps(rows, indent=2))
    else:
        from execlab.tables import show_comparison

        about = f"{first.task}, length {goal.length}, nesting {goal.nesting}, {split}, {strategy}, n={count:,}"
        show_comparison(about, rows)


@click.command()
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), default=Path("learning_curve.png"), show_default=True)
def curve(runs: tuple[Path, ...], out: Path) -> None:
    """Draw the learning curves of runs, with the staircase of difficulty."""
    needs_torch()
    from execlab.training.runs import read_about, read_metrics

    for run in runs:
        read_about(run)
        if not read_metrics(run):
            raise ExeclabError(f"{run} has no evaluation yet")
    if out.suffix not in (".png", ".svg", ".pdf"):
        raise ExeclabError(f"{out} must end in .png, .svg or .pdf")
    _draw({run.name: run for run in runs}, out)
    click.echo(f"wrote {out}")


COMMANDS = (train, evaluate, predict, compare, curve)
