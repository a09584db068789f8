"""What `execlab evaluate --endpoint` does: plan, estimate, ask, report."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from execlab.cli.options import choice, together
from execlab.data.ranges import parse_range
from execlab.errors import ExeclabError
from execlab.prompts import FORMS
from execlab.tasks import TASKS

if TYPE_CHECKING:
    from execlab.evaluation.endpoint_map import Plan

ENDPOINT = together(
    click.option("--endpoint", metavar="URL", help="Score a language model behind the OpenAI protocol: http://.../v1."),
    click.option("--model", metavar="NAME", help="With --endpoint: which model."),
    choice("--task", TASKS, "With --endpoint: what it is asked.  [default: program]"),
    choice("--form", FORMS, "With --endpoint: how it is asked.  [default: plain]"),
    click.option("--shots", type=int, help="With --endpoint: worked examples.  [examples: 3, others: 0]"),
    choice("--api", ("chat", "completion"), "With --endpoint: which of its interfaces.  [default: chat]"),
    click.option("--key-env", metavar="NAME", default="OPENAI_API_KEY", help="The environment variable with the key."),
    click.option("--concurrency", type=click.IntRange(1, 256), default=8, help="Requests at a time.  [default: 8]"),
    click.option("--timeout", type=click.FloatRange(0.1, 3_600), default=60.0, help="Seconds per try.  [default: 60]"),
    click.option("--tries", type=click.IntRange(1, 100), default=8, help="Tries of a request.  [default: 8]"),
    click.option("--max-tokens", type=click.IntRange(1, 1_000_000), default=1_024, help="Of a reply.  [default: 1024]"),
    click.option("--prices", nargs=2, type=float, metavar="IN OUT", help="Per million tokens, for the estimate."),
    click.option("--dry-run", is_flag=True, help="With --endpoint: only say what it would take."),
    click.option(
        "--out", type=click.Path(path_type=Path), help="With --endpoint: where to.  [runs/endpoint/MODEL-TASK]"
    ),
)


def evaluate_endpoint(plan: Plan, settings: dict[str, Any], *, as_json: bool) -> None:
    """Ask for what is missing, then write the report."""
    from execlab.evaluation.endpoint import Endpoint
    from execlab.evaluation.endpoint_map import accuracies, estimate, probe, read_answers, run, settle
    from execlab.evaluation.endpoint_report import write_report
    from execlab.progress import progress

    names = ("timeout", "tries", "key_env")
    endpoint = Endpoint(
        plan.url, plan.model, plan.api, max_tokens=plan.max_tokens, **{name: settings[name] for name in names}
    )
    folder, concurrency = settings["out"], settings["concurrency"]
    answers = read_answers(folder)
    todo = [asked for asked in plan.rows() if asked not in answers]
    if settings["dry_run"]:
        _say(estimate(plan, todo, concurrency, 1.0, settings["prices"]), "at a second per request")
        return
    folder.mkdir(parents=True, exist_ok=True)
    settle(plan, folder)
    try:
        if todo:
            seconds = probe(plan, endpoint, folder, todo[0])
            todo = todo[1:]
            _say(estimate(plan, todo, concurrency, seconds, settings["prices"]), "as long as the first one took")
        with progress("evaluate", len(todo), "rows") as advance:
            run(plan, endpoint, folder, todo, concurrency=concurrency, advance=advance)
    except KeyboardInterrupt:
        click.echo(f"{len(read_answers(folder)):,} answers are kept; the same command goes on", err=True)
        raise
    answers = read_answers(folder)
    cells = accuracies(plan, answers)
    rows = [answers[asked] for asked in plan.rows() if asked in answers]
    counted = {
        "answers": len(rows),
        "without_an_answer": sum(row["extracted"] is None for row in rows),
        "prompt_tokens": sum(row["prompt_tokens"] for row in rows),
        "completion_tokens": sum(row["completion_tokens"] for row in rows),
    }
    paths = write_report(plan, cells, folder, counted)
    if as_json:
        click.echo((folder / "report.json").read_text("utf-8"), nl=False)
        return
    for difficulty, score in cells.items():
        interval = f"{score.low:.2%} to {score.high:.2%}"
        where = f"length {difficulty.length}, nesting {difficulty.nesting}"
        click.echo(f"{where}: {score.value:.2%} ({interval}, n={score.n:,})")
    for path in paths:
        click.echo(f"wrote {path}")


def make_plan(settings: dict[str, Any]) -> Plan:
    """The plan of a command line."""
    from execlab.evaluation.endpoint_map import Plan

    if not settings["model"]:
        raise ExeclabError("--endpoint needs --model NAME: which model to ask")
    if settings["strategy"] != "baseline" or settings["predictions"]:
        raise ExeclabError("--strategy and --predictions are for runs; answers of an endpoint are in its answers.jsonl")
    return Plan(
        url=settings["endpoint"].rstrip("/"),
        model=settings["model"],
        api=settings["api"] or "chat",
        task=settings["task"] or "program",
        lengths=tuple(parse_range("length", settings["length"] or "4")),
        nestings=tuple(parse_range("nesting", settings["nesting"] or "1")),
        count=settings["count"],
        split=settings["split"],
        seed=settings["seed"],
        form=settings["form"] or "plain",
        shots=settings["shots"],
        max_tokens=settings["max_tokens"],
    )


def default_folder(plan: Plan) -> Path:
    """runs/endpoint/MODEL-TASK."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", plan.model).strip(".-") or "model"
    return Path("runs") / "endpoint" / f"{name}-{plan.task}"


def _say(expected: Any, how: str) -> None:
    cost = "" if expected.cost is None else f", about {expected.cost:.2f} in the currency of --prices"
    click.echo(
        f"{expected.requests:,} requests: about {expected.prompt_tokens:,} tokens in, "
        f"{expected.completion_tokens:,} out, {expected.seconds / 60:.1f} minutes ({how}){cost}",
        err=True,
    )


def as_whole(name: str, value: str | None) -> int | None:
    """A length or nesting for a run: one number."""
    if value is None:
        return None
    numbers = parse_range(name, value)
    if len(numbers) > 1:
        raise ExeclabError(f"{name} is {value!r}; a run is scored at one difficulty, ranges are for --endpoint")
    return numbers[0]
