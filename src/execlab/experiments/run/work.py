"""One run of a grid, in a process of its own (processes.py starts it).

GRID/grid.json says what the run is; GRID/runs/NAME is its folder. A run that was begun is resumed, one that is finished
is left alone. The process ends when the one that started it does: its standard input is then closed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from execlab import registry
from execlab.errors import ExeclabError, UntrustedError
from execlab.experiments import Planned
from execlab.files import read_regular, write_atomically
from execlab.training import checkpoints, loop, runs
from execlab.training.config import config_from_dict
from execlab.training.locking import BusyError
from execlab.training.view import Lines

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from execlab.experiments.experiment import Budget
    from execlab.training.config import Config

RESOLVED = ("device", "precision", "kernel", "threads")  # what `auto` is decided for
PATIENCE = 600.0  # seconds for the process before: it may still be saving, or be cut off from us and at work


def work(folder: Path, config: Config) -> None:
    """Train, or go on, until the run is finished."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return _work(folder, config)
        except BusyError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.5)


def _work(folder: Path, config: Config) -> None:
    view = Lines()
    if not checkpoints.listed(folder / "checkpoints"):  # not begun, or killed before the first one was whole
        loop.train(config, folder, force=folder.exists(), view=view)
        return
    check_same(folder, config)
    loop.resume(folder, view=view)


def check_same(folder: Path, config: Config) -> None:
    """Whether a run that was begun is the one that the grid means."""
    begun = runs.read_about(folder).config
    # What `auto` meant where it was begun stays.
    left_open = {name: getattr(begun, name) for name in RESOLVED if getattr(config, name) in ("auto", 0)}
    if replace(config, **left_open) != begun:
        raise ExeclabError(f"{folder} holds another run than the grid says; choose another folder for the grid")


def read_recorded(folder: Path, grid: Iterable[Planned], rows: Collection[str]) -> dict[str, Planned]:
    """The runs that have a row in a folder already; each must be the run that the grid means by this name.

    A row whose run grid.json does not list is left out: it is unknown which run it was.
    """
    if not rows:
        return {}
    before = read_grid(folder)
    for planned in grid:
        if planned.name in rows and planned.name in before and planned.config != before[planned.name].config:
            raise ExeclabError(f"{folder} has a row of another {planned.name} than the grid; choose another folder")
    return {name: before[name] for name in rows if name in before}


def write_grid(folder: Path, grid: Iterable[Planned]) -> None:
    """grid.json: every run by name; a budget that is not the full one is recorded beside its Config."""
    folder.mkdir(parents=True, exist_ok=True)
    entries = {
        planned.name: asdict(planned.config) | ({"budget": planned.budget} if planned.budget != "full" else {})
        for planned in grid
    }
    write_atomically(folder / "grid.json", (json.dumps(entries, indent=1) + "\n").encode(), root=folder)


def read_grid(folder: Path) -> dict[str, Planned]:
    """The runs in grid.json by name."""
    path = folder / "grid.json"
    try:
        entries = json.loads(read_regular(path)).items()
        return {name: _planned(name, **fields) for name, fields in entries}
    except FileNotFoundError:
        raise ExeclabError(f"{folder} holds no grid of runs: it has no grid.json") from None
    except UntrustedError:
        raise
    except ExeclabError as error:
        raise ExeclabError(f"{path} is not a grid of this execlab: {error}") from None
    except (ValueError, TypeError, AttributeError):
        raise ExeclabError(f"{path} is damaged, or of another version of execlab") from None


def _planned(name: str, budget: Budget = "full", **fields: Any) -> Planned:
    return Planned(name, config_from_dict(fields), budget)


def _end_with_parent() -> None:
    def watch() -> None:
        while os.read(0, 1):  # empty when the other end is closed
            pass
        os.kill(os.getpid(), signal.SIGTERM)  # the loop saves and stops

    threading.Thread(target=watch, daemon=True).start()


def main() -> None:
    """The process's beginning and end."""
    folder, name, *named = sys.argv[1:]
    _end_with_parent()
    try:
        registry.trust(*named)
        where = Path(folder)
        grid = read_grid(where)
        if name not in grid:
            raise ExeclabError(f"{folder}/grid.json does not list the run {name}")
        work(where / "runs" / name, grid[name].config)
    except ExeclabError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
