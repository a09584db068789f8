"""Run folders and grids below one folder, and nothing outside it: no link is followed, every answer is looked up among
what a walk has found."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from execlab.errors import ExeclabError
from execlab.playground.schemas import Grid, Run
from execlab.training import checkpoints, runs

if TYPE_CHECKING:
    from collections.abc import Iterator

DEPTH = 6
MOST = 2_000  # folders
FRESH = 1.0  # seconds that a walk is remembered
MAX_ROWS = 5_000
# Whatever strange files can raise.
BROKEN = (ExeclabError, OSError, ValueError, TypeError, AttributeError, KeyError, RecursionError, OverflowError)
_walked: dict[tuple[Path, str], tuple[float, dict[str, Path]]] = {}


def runs_below(root: Path) -> dict[str, Path]:
    """Run folders by id: their path below the root."""
    return _holding(root, "config.json")


def grids_below(root: Path) -> dict[str, Path]:
    """Folders of reproduced experiments."""
    return _holding(root, "results.jsonl")


def _holding(root: Path, name: str) -> dict[str, Path]:
    now = time.monotonic()
    when, found = _walked.get((root, name), (-FRESH, {}))
    if now - when >= FRESH:
        found = dict(_walk(root, name))
        _walked[root, name] = (now, found)
    return found


def _walk(root: Path, name: str) -> Iterator[tuple[str, Path]]:
    count = 0
    for folder, below, files in os.walk(root, followlinks=False):
        path = Path(folder)
        relative = path.relative_to(root)
        below[:] = sorted(
            one for one in below if not one.startswith(".") and one != "checkpoints" and one.isprintable()
        )
        if len(relative.parts) >= DEPTH:
            below.clear()
        if name in files and _is_own(path, root):
            yield relative.as_posix() if relative.parts else root.resolve().name, path
            count += 1
            if count >= MOST:
                return


def _is_own(folder: Path, root: Path) -> bool:
    """Whether all that may be read in a folder lies below the root, links resolved."""
    names = ("", "config.json", "metrics.jsonl", "report.json", "model.safetensors", "results.jsonl", "checkpoints")
    try:
        inside = root.resolve()
        read = [folder / name for name in names] + checkpoints.listed(folder / "checkpoints")
        return all(path.resolve().is_relative_to(inside) for path in read)
    except (OSError, RuntimeError):  # a link to itself
        return False


def describe(id: str, folder: Path) -> Run:
    """A run as the list shows it; one that cannot be read says why."""
    try:
        config = runs.config_from(runs.read_about(folder), Path(id))
        lines = read_metrics(folder)
        last = lines[-1] if lines else {}
        return Run(
            id=id,
            task=config.task,
            length=config.length,
            nesting=config.nesting,
            strategy=config.strategy,
            seed=config.seed,
            finished=(folder / "report.json").exists(),
            samples=last.get("samples", 0),
            teacher_forced_accuracy=last.get("goal_teacher_forced_accuracy"),
            problem=None,
        )
    except BROKEN as error:
        told = str(error).replace(str(folder), id) if isinstance(error, ExeclabError) else "its files are damaged"
        return Run(
            id=id,
            task="",
            length=0,
            nesting=0,
            strategy="",
            seed=0,
            finished=False,
            samples=0,
            teacher_forced_accuracy=None,
            problem=told[:300],
        )


def read_metrics(folder: Path) -> list[dict[str, Any]]:
    """The whole lines of metrics.jsonl, if they are objects."""
    return [line for line in runs.read_metrics(folder) if isinstance(line, dict)]


def read_grid(id: str, folder: Path) -> Grid:
    """The rows of a grid; lines that are no rows are left out."""
    rows = []
    with suppress(OSError), (folder / "results.jsonl").open(encoding="utf-8", errors="replace") as file:
        for line in islice(file, MAX_ROWS):
            with suppress(*BROKEN):
                row = json.loads(line, parse_constant=lambda _: None)
                json.dumps(row, ensure_ascii=False).encode()  # no half characters
                rows += [row] if isinstance(row, dict) else []
    return Grid(id=id, experiment=str(rows[0].get("experiment", "")) if rows else "", rows=rows)
