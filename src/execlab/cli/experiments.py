"""The commands for whole figures: reproduce, report."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from execlab import registry
from execlab.cli.options import trust
from execlab.errors import ExeclabError, needs_torch
from execlab.registry import is_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execlab.experiments import Planned
    from execlab.experiments.run.cluster import RayEngine
    from execlab.experiments.run.engine import LocalEngine
    from execlab.training.config import Precision

ENGINES = ("local", "ray")
SCALES = ("smoke", "laptop", "paper")


@click.command()
@click.argument("name")
@trust
@click.option("--scale", type=click.Choice(SCALES), default="laptop", show_default=True, help="How large the grid is.")
@click.option("--seeds", type=click.IntRange(min=1), help="Seeds per setting.  [default: 3; smoke: 1]")
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    default="local",
    show_default=True,
    help="Processes on this machine, or tasks on a Ray cluster.",
)
@click.option("--address", help="The Ray cluster's address, or auto.  [default: one started on this machine]")
@click.option("--workers", type=click.IntRange(min=1), help="Runs at a time.  [default: one per core]")
@click.option(
    "--precision",
    type=click.Choice(("float32", "bfloat16", "auto")),
    default="float32",
    show_default=True,
    help="Of the matmuls in every run; bfloat16 is faster on CPUs with native bfloat16. auto: one per difficulty, that "
    "of earlier runs, or what this CPU does well.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Where to.  [default: runs/reproduce/NAME-SCALE]")
@click.option(
    "--rows-of",
    "others",
    type=click.Path(path_type=Path),
    multiple=True,
    help="Another grid's folder: a run that has a row there is not done again.",
)
@click.option(
    "--dry-run", is_flag=True, help="Only list the runs that are left, their characters and the expected time."
)
def reproduce(
    name: str,
    scale: str,
    seeds: int | None,
    engine: str,
    address: str | None,
    workers: int | None,
    precision: Precision,
    out: Path | None,
    others: tuple[Path, ...],
    dry_run: bool,
) -> None:
    """Reproduce a figure of the paper: run its grid, then draw its report.

    NAME is programs, addition, headline, memorization, examples, statistics, orders, work, or an import path of your
    own experiment, such as mylab.experiments:EXPERIMENT.

    Stop it with Ctrl-C, or kill it: the same command goes on where it stood.
    """
    needs_torch("matplotlib")
    from execlab.experiments import make_grid
    from execlab.experiments.analyse.rows import check_same_data, recorded
    from execlab.experiments.run import cost
    from execlab.experiments.run.display import Watch
    from execlab.experiments.run.reproduce import SEPARATE, elsewhere, settle
    from execlab.experiments.run.reproduce import reproduce as run

    if address and engine != "ray":
        raise ExeclabError("--address is for --engine ray")
    if is_path(name):
        registry.trust(name)  # the user has named it
    folder = out or Path("runs") / "reproduce" / f"{name.replace(':', '-')}-{scale}"
    grid = settle(make_grid(name, scale, seeds, precision), [folder, *others])
    here = min(workers or cost.workers_here(), len(grid))
    if dry_run:
        done, known = recorded(folder), elsewhere(others)
        check_same_data(done.values(), folder, SEPARATE)
        left = [planned for planned in grid if planned.name not in done and planned.config not in known]
        if len(left) < len(grid):
            click.echo(f"done already: {len(grid) - len(left)} of {_counted(len(grid), 'run')}")
        if left:
            _list(left, min(here, len(left)))
        return
    watch = Watch()
    chosen = _engine(engine, address, folder, workers if engine == "ray" and address else here)
    watch.say(f"{_counted(len(grid), 'run')}, {chosen.workers} at a time, in {folder}")
    if scale == "paper":
        _list(grid, chosen.workers, every=False)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what a scheduler sends is like Ctrl-C
    try:
        progress = run(name, scale, grid, folder, chosen, watch, others)
    except KeyboardInterrupt:
        watch.say("stopped; the same command goes on from here")
        raise
    click.echo(f"wrote {folder / 'report.html'}: {len(progress.done)} of {len(grid)} runs")
    if progress.failed:
        for failed, reason in progress.failed.items():
            click.echo(f"failed: {failed}: {reason}", err=True)
        sys.exit(1)


def _engine(engine: str, address: str | None, folder: Path, workers: int | None) -> LocalEngine | RayEngine:
    if engine == "local":
        from execlab.experiments.run.engine import LocalEngine

        return LocalEngine(folder, workers or 1)
    from importlib.util import find_spec

    if find_spec("ray") is None:
        raise ExeclabError("--engine ray needs Ray: pip install 'execlab[cluster]'")
    from execlab.experiments.run.cluster import RayEngine

    return RayEngine(folder, workers, address)


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _list(grid: Sequence[Planned], workers: int, *, every: bool = True) -> None:
    from execlab.experiments.run import cost

    costs = cost.estimate(grid)
    if every:
        for planned, expected in zip(grid, costs, strict=True):
            click.echo(f"{planned.name:56} {expected.characters:>16,} characters {expected.seconds:>12,.0f} s")
    hours = cost.whole(costs, workers) / 3600
    characters, flops = sum(each.characters for each in costs), sum(each.flops for each in costs)
    click.echo(
        f"{_counted(len(grid), 'run')}, {characters:,} characters, {flops:.3g} floating-point operations; "
        f"about {hours:,.2f} hours here with {_counted(workers, 'worker')} ({hours * 3600:,.0f} s), "
        f"{flops / cost.GPU_FLOPS / 3600:,.2f} on one GPU, {flops / cost.GPU_FLOPS / 8 / 3600:,.2f} on eight"
    )
    click.echo(cost.ASSUMED)


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--fill", "files", type=click.Path(path_type=Path), multiple=True, help="Fill in a document's blocks.")
@click.option("--check", is_flag=True, help="Write nothing; fail if a document differs from the results.")
@trust
def report(folder: Path, files: tuple[Path, ...], check: bool) -> None:
    """Draw figures and page again from the results in a folder, or in the folders below it.

    A document asks for tables, figures and verdicts with comments such as <!-- execlab: claims addition -->, each
    followed by <!-- end -->; --fill writes what the results say between them.
    """
    needs_torch("matplotlib")
    from execlab.experiments.publish.blocks import fill
    from execlab.experiments.publish.page import write_page
    from execlab.files import write_atomically

    if not folder.is_dir():
        raise ExeclabError(f"{folder} is not a folder")
    if check and not files:
        raise ExeclabError("--check is for --fill FILE")
    if not check:
        below = sorted(path.parent for path in folder.glob("*/results.jsonl"))
        for results in [folder] if (folder / "results.jsonl").exists() or not below else below:
            click.echo(f"wrote {write_page(results)}")
    stale = False
    for path in files:
        if not path.is_file():
            raise ExeclabError(f"{path} is not a file")
        if (text := fill(path, folder)) == path.read_text(encoding="utf-8"):
            click.echo(f"{path} says what the results say")
        elif check:
            click.echo(f"{path} says something else than the results", err=True)
            stale = True
        else:
            write_atomically(path, text.encode())  # named by the user: a link is followed
            click.echo(f"wrote {path}")
    if stale:
        sys.exit(1)


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@trust
@click.option("--runs", "pattern", default="*", show_default=True, help="Which runs, by name; * matches anything.")
@click.option("--workers", type=click.IntRange(min=1), help="Runs at a time.  [default: one per core]")
def recheck(folder: Path, pattern: str, workers: int | None) -> None:
    """Do recorded runs once more from scratch and compare them with their rows, to the last digit.

    The same kind of processor and the same versions give the same bits; where those differ, it says so.
    """
    needs_torch("matplotlib")
    from execlab.experiments.run import cost
    from execlab.experiments.run.display import Watch
    from execlab.experiments.run.recheck import recheck as check

    checked = check(folder, pattern, workers or cost.workers_here(), Watch())
    for run in checked:
        changed = "; ".join(f"{name} was {then}, is {now}" for name, (then, now) in run.differences.items())
        click.echo(f"{run.name}: {changed or 'the same to the last digit'}")
    elsewhere = {name: ends for run in checked for name, ends in run.elsewhere.items()}
    for name, (then, now) in elsewhere.items():
        click.echo(f"not as it was when the rows were made: {name} was {then or 'not recorded'}, is {now}")
    same = sum(not run.differences for run in checked)
    click.echo(f"{same} of {len(checked)} runs are the same to the last digit")
    if wrong := [run.name for run in checked if run.differences and not run.elsewhere]:
        click.echo(f"error: processor and versions are those of {wrong[0]}, so it should be the same", err=True)
        sys.exit(1)
    if same < len(checked):
        click.echo("differences are to be expected here: processor, kernel or versions are not the same")


COMMANDS = (reproduce, report, recheck)
