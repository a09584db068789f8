"""Run folders: what a run is, what it measured, and who may write to it.

runs/add4/
  config.json        the Config, resolved, with library versions and commit
  metrics.jsonl      one line per evaluation
  checkpoints/       the two newest
  model.safetensors  at the end: the weights, with Config and vocabulary in the header
  report.json, report.md, learning_curve.png   at the end
"""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from execlab.data.splits import DATA_VERSION
from execlab.errors import ExeclabError
from execlab.files import is_partial, open_to_append, read_regular, write_atomically
from execlab.registry import short_name
from execlab.training import checkpoints
from execlab.training.config import Config, config_from_dict
from execlab.training.hardware import commit, versions

if TYPE_CHECKING:
    from collections.abc import Callable

FORMAT = 2  # of a run folder; raised when an older execlab could not read it
WRITTEN = ("config.json", "metrics.jsonl", "model.safetensors", "report.json", "report.md", "learning_curve.png")
REPLACED = WRITTEN[1:]  # what --force removes before a run begins again
LARGEST_CONFIG = 1 << 20  # bytes
LARGEST_METRICS = 1 << 28
_MARK = re.compile(r"[0-9a-f]{16}")  # of ownership; see locking.py
_NEEDED = ("step", "samples", "length", "nesting", "current_teacher_forced_accuracy", "goal_teacher_forced_accuracy")


def default_folder(config: Config) -> Path:
    """Where a run goes that was given no folder."""
    task, strategy = short_name(config.task), short_name(config.strategy)
    return Path("runs") / f"{task}-{config.length}x{config.nesting}-{strategy}-{config.seed}"


def check_free(folder: Path, *, force: bool) -> None:
    """Raise unless a new run may begin in a folder; changes nothing in it."""
    if folder.exists() and not folder.is_dir():
        raise ExeclabError(f"{folder} is a file; choose another name for the run")
    if not folder.exists() or all(_is_passing(path) for path in folder.iterdir()):
        return
    try:
        read_about(folder)
    except ExeclabError as error:
        advice = "--force replaces only runs" if force else "choose another folder for the run"
        raise ExeclabError(f"{folder} is not empty and holds no run of this execlab ({error}); {advice}") from None
    if not force:
        raise ExeclabError(f"{folder} holds a run; resume it with --resume {folder}, or start again with --force")


def _is_passing(path: Path) -> bool:
    """Whether this is what a run that was killed at its very beginning leaves behind."""
    if path.name == ".owner":
        return bool(_MARK.fullmatch(read_regular(path, 64).decode("latin-1")))
    return path.name == ".lock" or is_partial(path.name, (".owner", "config.json"))


def create(folder: Path, config: Config, parameters: int, *, force: bool) -> None:
    """A new run folder with its config."""
    check_free(folder, force=force)
    if (folder / "config.json").exists():
        for name in REPLACED:
            (folder / name).unlink(missing_ok=True)
        if (kept := folder / "checkpoints").is_symlink():
            kept.unlink()
        shutil.rmtree(kept, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    about = {
        "format": FORMAT,
        "config": asdict(config),
        "data_version": DATA_VERSION,
        "parameters": parameters,
        "versions": versions(config),
        "commit": commit(),
    }
    write_atomically(folder / "config.json", (json.dumps(about, indent=2) + "\n").encode(), root=folder)


def clean(folder: Path) -> None:
    """Remove the half-written files of a process that was killed, in a folder that holds a run of ours."""
    try:
        read_about(folder)
    except ExeclabError:
        return
    stale = [path for path in folder.glob(".*.partial") if is_partial(path.name, (".owner", *WRITTEN))]
    if not (below := folder / "checkpoints").is_symlink():
        stale += [path for path in below.glob(".*.partial") if is_partial(path.name, checkpoints.NAME)]
    for path in stale:
        path.unlink(missing_ok=True)


def config_from(about: Any, where: Path) -> Config:
    """The Config in a run's or model's description."""
    if not isinstance(about, dict) or not isinstance(about.get("config"), dict):
        raise ExeclabError(f"{where} holds no configuration of execlab")
    newer = "; it was made by a newer execlab"
    if not isinstance(about.get("format"), int) or about["format"] > FORMAT:
        raise ExeclabError(f"{where} has format {about.get('format')!r}, and this execlab knows {FORMAT}{newer}")
    data = about.get("data_version")
    if not isinstance(data, int) or not 1 <= data <= DATA_VERSION:
        raise ExeclabError(f"{where} has data version {data!r}, and this execlab knows up to {DATA_VERSION}{newer}")
    try:
        return config_from_dict({"kernel": "torch", **about["config"]})  # torch: a run from before there was a choice
    except TypeError:
        raise ExeclabError(f"the Config in {where} is not valid{newer}") from None
    except ExeclabError as error:
        raise ExeclabError(f"the Config in {where} is not valid: {error}") from None


def check_resumable(about: dict[str, Any], folder: Path) -> None:
    """Raise if a run that is not over was begun with samples that this execlab does not draw."""
    data = about["data_version"]
    if data != DATA_VERSION and not (folder / "report.json").exists():
        raise ExeclabError(
            f"{folder} was begun with data version {data}, and this execlab draws version {DATA_VERSION}: finish it "
            f"with the execlab that began it, or train it from the start: execlab train --config "
            f"{folder / 'config.json'} --out ANOTHER_FOLDER"
        )


def read_about(folder: Path) -> dict[str, Any]:
    """config.json as it stands."""
    path = folder / "config.json"
    try:
        about = json.loads(read_regular(path, LARGEST_CONFIG))
    except (FileNotFoundError, NotADirectoryError):
        raise ExeclabError(f"{folder} is not a run of execlab: it has no config.json") from None
    except ExeclabError:
        raise
    except (ValueError, RecursionError):
        raise ExeclabError(f"{path} is damaged: it is not JSON") from None
    config_from(about, path)
    known: dict[str, Any] = about
    return known


def read_metrics(folder: Path) -> list[dict[str, Any]]:
    """The lines of metrics.jsonl that are whole."""
    return _parse_metrics(folder)[0]


def damaged_metrics(folder: Path) -> int:
    """How many lines of metrics.jsonl are not; a last one without its end does not count, a kill leaves it behind."""
    return _parse_metrics(folder)[1]


def _parse_metrics(folder: Path) -> tuple[list[dict[str, Any]], int]:
    try:
        data = read_regular(folder / "metrics.jsonl", LARGEST_METRICS)
    except FileNotFoundError:
        return [], 0
    whole, damaged = [], 0
    *lines, last = data.split(b"\n")
    for line in (*lines, last):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        if isinstance(record, dict) and all(isinstance(record.get(name), int | float) for name in _NEEDED):
            whole.append(record)
        elif line is not last:
            damaged += 1
    return whole, damaged


def write_metrics(folder: Path, lines: list[dict[str, Any]], check: Callable[[], None] = lambda: None) -> None:
    """Replace metrics.jsonl by just these lines."""
    data = "".join(json.dumps(line) + "\n" for line in lines).encode()
    write_atomically(folder / "metrics.jsonl", data, check, root=folder)


def append_metrics(folder: Path, line: dict[str, Any]) -> None:
    """Append one line, in one write that is on disk when this returns."""
    with open_to_append(folder / "metrics.jsonl", folder) as file:
        file.write((json.dumps(line) + "\n").encode())
