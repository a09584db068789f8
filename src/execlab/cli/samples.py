"""The commands that need no network: sample, execute, audit, stats, export."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from execlab.cli.options import EXTRA, JSON, choice, flag_of, named, parse_extra, together
from execlab.data.export import WRITERS
from execlab.data.sampling import STATIC_STRATEGIES, Source
from execlab.data.splits import SPLITS
from execlab.errors import ExeclabError
from execlab.programs.syntax import MAX_CHARACTERS
from execlab.prompts import FORMS, chat_rows, prompt_for, with_work
from execlab.registry import is_path, trust
from execlab.tasks import TASKS, Difficulty, make_task
from execlab.training.config import built_in_options

if TYPE_CHECKING:
    from collections.abc import Callable

    from execlab.data.export import Format
    from execlab.data.splits import Split
    from execlab.prompts import Form, Prompt

TASK_OPTIONS = together(
    named("task", TASKS, "What to draw.", "program"),
    *(flag_of(setting, setting.help) for setting in built_in_options("task").values()),
    EXTRA,
    click.option("--scramble", type=int, metavar="SEED", help="Permute the characters as in Fig. 2."),
    click.option("--seed", type=int, default=0, show_default=True, help="Every seed gives other samples."),
)
LENGTH = click.option(
    "--length",
    type=int,
    default=4,
    show_default=True,
    help="Digits per integer (1 to 50; memorization 1 to 200).",
)
NESTING = click.option(
    "--nesting",
    type=int,
    default=1,
    show_default=True,
    help="Operations per program (1 to 10; other tasks only 1).",
)
STRATEGY = choice(
    "--strategy",
    STATIC_STRATEGIES,
    "baseline: always this difficulty; mix: anything up to it, drawn per sample.",
    "baseline",
)
SAMPLE_OPTIONS = together(TASK_OPTIONS, LENGTH, NESTING, STRATEGY)


PROMPT = choice("--prompt", FORMS, "As a question to a language model: plain, with examples, or with work to show.")
SHOTS = click.option("--shots", type=int, help="With --prompt: how many worked examples.  [examples: 3, others: 0]")


def _count(default: int, text: str) -> Callable[[Any], Any]:
    return click.option("--count", type=click.IntRange(min=0), default=default, show_default=True, help=text)


def _source(
    task: str,
    length: int,
    nesting: int,
    seed: int,
    scramble: int | None,
    strategy: str = "baseline",
    split: Split | None = None,
    extra: tuple[str, ...] = (),
    **options: object,
) -> Source:
    if is_path(task):
        trust(task)  # the user has named it
    chosen = make_task(task, {**options, **parse_extra(extra)})
    return Source(chosen, Difficulty(length, nesting), split, seed, strategy, scramble)


def _shown(prompt: Prompt, target: str, kind: str, jsonl: bool) -> str:
    """A prompt as `sample` prints it."""
    if jsonl:
        asked = {"messages": prompt.messages} if kind == "chat" else {"prompt": prompt.text}
        return json.dumps({**asked, "answer": target, "form": prompt.form, "prompt_version": prompt.version}) + "\n"
    messages = "\n\n".join(f"[{message['role']}]\n{message['content']}" for message in prompt.messages)
    return f"{messages if kind == 'chat' else prompt.text}\n\nTarget: {target}\n\n"


# Commands ----------------------------------------------------------------------------------------------------------


@click.command()
@SAMPLE_OPTIONS
@choice("--split", SPLITS, "Which split to draw from.", "train")
@_count(5, "How many samples.")
@click.option("--jsonl", is_flag=True, help="One JSON object per line instead of text.")
@PROMPT
@SHOTS
@choice("--kind", ("chat", "completion"), "With --prompt: messages, or one text.", "chat")
def sample(count: int, jsonl: bool, prompt: Form | None, shots: int | None, kind: str, **description: Any) -> None:
    """Draw samples of a task and split.

    The same arguments give the same bytes anywhere, and sample i is the same however many are drawn.
    """
    source = _source(**description)
    if prompt is not None:
        for row in source.rows(stop=count):
            sys.stdout.write(
                _shown(prompt_for(source, row.sample.input, prompt, shots), row.sample.target, kind, jsonl)
            )
        return
    for row in source.rows(stop=count):
        if jsonl:
            sys.stdout.write(json.dumps(source.record(row)) + "\n")
        else:
            sys.stdout.write(f"Input:\n{row.sample.input}\nTarget: {row.sample.target}\n\n")


@click.command()
@click.argument("file", type=click.Path(allow_dash=True))
@click.option("--trace", "with_trace", is_flag=True, help="Show each executed line and the variables after it.")
def execute(file: str, with_trace: bool) -> None:
    """Run a program and print its output.

    FILE is a path, or - for standard input. The language: assignments, + - *, conditional expressions, loops over
    range(n) without loops inside, and one print at the end. It runs in execlab's own interpreter, never in Python.
    """
    from execlab.programs import execute, trace

    # A character has at most 4 bytes, so this much is enough to see that a text is too long.
    enough = 4 * MAX_CHARACTERS + 4
    if file == "-":
        data = sys.stdin.buffer.read(enough)
    else:
        with Path(file).open("rb") as opened:
            data = opened.read(enough)
    text = data.decode("utf-8-sig", errors="surrogateescape")  # stray bytes are refused by name
    output = execute(text)
    if with_trace:
        from execlab.tables import show_trace

        show_trace(text, trace(text))
    click.echo(output)


@click.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
@choice("--against", SPLITS, "With FILE: the split that its programs should not be in.", "test")
@SAMPLE_OPTIONS
@_count(2_000, "How many samples of each split.")
@click.option("--cpython", is_flag=True, help="Also run every program in a real, separate Python process.")
@JSON
@click.pass_context
def audit(
    ctx: click.Context,
    /,
    count: int,
    cpython: bool,
    as_json: bool,
    file: Path | None,
    against: Split,
    **description: Any,
) -> None:
    """Prove that labels are right and splits apart.

    Every target is computed again, and samples that splits or seeds share are counted.
    Exit status 1 if anything overlaps or disagrees.

    With FILE (JSON lines, Parquet or text) the programs in it are looked for in execlab's splits instead: exit status 1
    if any belongs to the split --against.
    """
    if file is not None:
        from execlab.data.foreign import audit_file
        from execlab.tables import show_foreign

        task = description["task"]
        seen = audit_file(file, _source(**description).task, against)
        click.echo(json.dumps(seen.as_dict(), indent=2)) if as_json else show_foreign(file, task, seen)
        ctx.exit(1 if seen.shared else 0)
    from execlab.data.audit import PASSES, audit
    from execlab.progress import progress

    source = _source(**description)
    with progress("audit", PASSES * count, "samples") as advance:
        result = audit(source, count, cpython=cpython, advance=advance)
    if as_json:
        about = {
            "task": source.task.name,
            **source.goal._asdict(),
            "seed": source.seed,
            "options": source.options,
        }
        click.echo(json.dumps({**about, **result.as_dict()}, indent=2))
    else:
        from execlab.tables import show_audit

        show_audit(source, result)
    ctx.exit(1 if result.failures else 0)


@click.command()
@TASK_OPTIONS
@click.option("--length", type=int, help="One difficulty instead of the usual settings.")
@click.option("--nesting", type=int, help="One difficulty instead of the usual settings.")
@_count(10_000, "How many samples per setting (the paper: 10,000).")
@JSON
def stats(length: int | None, nesting: int | None, count: int, as_json: bool, **description: Any) -> None:
    """Measure what can be guessed without understanding.

    The paper's statistics of output characters (section 3) and the lengths of samples, beside the paper's numbers.
    """
    from execlab.data.statistics import OTHER_SETTINGS, SETTINGS, output_statistics
    from execlab.progress import progress

    if count == 0:
        raise ExeclabError("count is 0; statistics need at least 1 sample")
    if length is None and nesting is None:
        settings = SETTINGS.get(description["task"], OTHER_SETTINGS)
    else:
        settings = [Difficulty(4 if length is None else length, 1 if nesting is None else nesting)]
    sources = [_source(**description, **setting._asdict()) for setting in settings]
    measured = []
    with progress("stats", 3 * count * len(sources), "samples") as advance:
        for source in sources:
            measured.append(output_statistics(source, count))
            advance(3 * count)
    if as_json:
        rows = [{**s._asdict(), **f.as_dict()} for s, f in zip(settings, measured, strict=True)]
        click.echo(json.dumps(rows, indent=2))
    else:
        from execlab.tables import show_statistics

        show_statistics(description["task"], dict(zip(settings, measured, strict=True)))


@click.command()
@SAMPLE_OPTIONS
@choice("--format", WRITERS, "The kind of file.", "jsonl")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The folder to write to.")
@_count(1_000, "Rows of each split.")
@click.option("--train", type=click.IntRange(min=0), help="Rows of train, if not --count.")
@click.option("--validation", type=click.IntRange(min=0), help="Rows of validation, if not --count.")
@click.option("--test", type=click.IntRange(min=0), help="Rows of test, if not --count.")
@click.option("--force", is_flag=True, help="Replace files that exist already.")
@PROMPT
@SHOTS
@click.option("--trace", is_flag=True, help="Add a column `scratchpad` with the interpreter's trace.")
def export(
    format: Format,
    out: Path,
    count: int,
    train: int | None,
    validation: int | None,
    test: int | None,
    force: bool,
    prompt: Form | None,
    shots: int | None,
    trace: bool,
    **description: Any,
) -> None:
    """Write a dataset: train, validation and test files. With --prompt its rows are chats for a language model.

    The card beside them lets Hugging Face `datasets.load_dataset(OUT)` read the folder without a script.
    """
    from execlab.data.export import export
    from execlab.progress import progress

    asked = zip(SPLITS, (train, validation, test), strict=True)
    counts = {split: count if rows is None else rows for split, rows in asked}
    source = _source(**description)
    shape = chat_rows(prompt, shots) if prompt else None
    shape = with_work(shape) if trace else shape
    with progress("export", sum(counts.values())) as advance:
        paths = export(source, counts, out, format, force=force, advance=advance, shape=shape)
    for path in paths:
        click.echo(f"wrote {path}")


COMMANDS = (sample, execute, audit, stats, export)
