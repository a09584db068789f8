"""Run folders and grids below one folder, and nothing outside it: no link is followed, and every
name is looked up in the list of a walk."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from execlab.errors import ExeclabError
from execlab.files import open_regular
from execlab.playground.schemas import Grid, Run
from execlab.training import checkpoints, runs
from execlab.training.metrics import parse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execlab.training.metrics import Metrics

DEPTH = 6
MOST = 2_000  # folders
FRESH = 1.0  # seconds that a walk is remembered
MAX_ROWS = 5_000
RESULTS = 1 << 24  # bytes of a report.json, and of a results.jsonl that are read
TAIL = 1 << 16  # of a metrics.jsonl, from its end, that hold its last line
# What files of any content can raise.
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
    when, folders = _walked.get((root, name), (-FRESH, {}))
    if now - when >= FRESH:
        folders = dict(_walk(root, name))
        _walked[root, name] = (now, folders)
    return folders


def _walk(root: Path, name: str) -> Iterator[tuple[str, Path]]:
    count = 0
    for folder, below, files in os.walk(root, followlinks=False):
        path = Path(folder)
        relative = path.relative_to(root)
        below[:] = sorted(
            child for child in below if not child.startswith(".") and child != "checkpoints" and child.isprintable()
        )
        if len(relative.parts) >= DEPTH:
            below.clear()
        if name in files and _is_regular(path / name) and _is_own(path, root):
            yield relative.as_posix() if relative.parts else root.resolve().name, path
            count += 1
            if count >= MOST:
                return


def _is_regular(path: Path) -> bool:
    """Whether a file is no pipe or device, by asking only: whoever opens a pipe waits."""
    try:
        return path.is_file()
    except OSError:  # a folder that nobody may enter
        return False


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
        config = runs.read_about(folder).config
        last = _last_metrics(folder)
        return Run(
            id=id,
            task=config.task,
            length=config.length,
            nesting=config.nesting,
            strategy=config.strategy,
            seed=config.seed,
            finished=is_finished(folder),
            samples=last.samples if last else 0,
            teacher_forced_accuracy=last.goal_teacher_forced_accuracy if last else None,
            problem=None,
        )
    except BROKEN as error:
        problem = str(error).replace(str(folder), id) if isinstance(error, ExeclabError) else "its files are damaged"
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
            problem=problem[:300],
        )


def is_finished(folder: Path) -> bool:
    """Whether a run is over: then it has a report."""
    return (folder / "report.json").is_file()


def _last_metrics(folder: Path) -> Metrics | None:
    """The last whole line of metrics.jsonl; reads only the end of the file."""
    path = folder / "metrics.jsonl"
    try:
        with open_regular(path) as file:
            begin = max(file.seek(0, os.SEEK_END) - TAIL, 0)
            file.seek(begin)
            lines = file.read(TAIL).split(b"\n")[1 if begin else 0 : -1]  # the first one may be cut off
    except FileNotFoundError:
        return None
    for line in reversed(lines):
        if metrics := parse(line):
            return metrics
    if lines or begin:
        raise ExeclabError(f"{path} is damaged: its end is not JSON")
    return None


def read_grid(id: str, folder: Path) -> Grid:
    """The rows of a grid; lines that are no rows are left out."""
    lines: list[bytes] = []
    with suppress(*BROKEN), open_regular(folder / "results.jsonl") as file:
        lines = file.read(RESULTS).split(b"\n", MAX_ROWS)[:MAX_ROWS]
    rows = []
    for line in lines:
        with suppress(*BROKEN):
            row = json.loads(line.decode(errors="replace"), parse_constant=lambda _: None)
            json.dumps(row, ensure_ascii=False).encode()  # no half characters
            rows += [row] if isinstance(row, dict) else []
    return Grid(id=id, experiment=str(rows[0].get("experiment", "")) if rows else "", rows=rows)
