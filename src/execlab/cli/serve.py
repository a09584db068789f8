"""The command for the web page: serve."""

from __future__ import annotations

from pathlib import Path

import click

from execlab.cli.options import trust
from execlab.errors import ExeclabError, needs_torch


@click.command()
@click.option("--runs", type=click.Path(path_type=Path), help="Also show the runs and grids below this folder.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0: any free one.")
@trust
def serve(runs: Path | None, host: str, port: int) -> None:
    """Watch a network execute your program, in the browser."""
    from importlib.util import find_spec

    needs_torch()
    if missing := [name for name in ("fastapi", "uvicorn") if find_spec(name) is None]:
        raise ExeclabError(f"the playground needs {missing[0]}: pip install 'execlab[playground]'")
    if runs is not None and not runs.is_dir():
        raise ExeclabError(f"{runs} is not a folder; --runs must be the folder that holds your run folders")
    from execlab.playground.serve import serve as start

    start(runs, host, port)


COMMANDS = (serve,)
