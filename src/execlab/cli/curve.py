"""The command that draws learning curves; `train` draws its own with the same function."""

from __future__ import annotations

from pathlib import Path

import click

from execlab.cli.options import trust
from execlab.errors import ExeclabError, needs_torch


def draw(folders: dict[str, Path], path: Path, root: Path | None = None) -> None:
    """Write the learning curves of these run folders to one figure."""
    from execlab.training.curves import learning_curve
    from execlab.training.metrics import read_metrics

    curves = {name: read_metrics(folder) for name, folder in folders.items()}
    if curves := {name: lines for name, lines in curves.items() if lines}:
        try:
            learning_curve(curves, path, root=root)
        except ImportError:
            click.echo("no learning curve: matplotlib is not installed (pip install 'execlab[train]')", err=True)


@click.command()
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), default=Path("learning_curve.png"), show_default=True)
@trust
def curve(runs: tuple[Path, ...], out: Path) -> None:
    """Draw the learning curves of runs, with the staircase of difficulty."""
    needs_torch()
    from execlab.training.metrics import read_metrics
    from execlab.training.runs import read_about

    for run in runs:
        read_about(run)
        if not read_metrics(run):
            raise ExeclabError(f"{run} has no evaluation yet")
    if out.suffix not in (".png", ".svg", ".pdf"):
        raise ExeclabError(f"{out} must end in .png, .svg or .pdf")
    draw({run.name: run for run in runs}, out)
    click.echo(f"wrote {out}")


COMMANDS = (curve,)
