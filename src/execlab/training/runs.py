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
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from execlab.data.splits import DATA_VERSION
from execlab.errors import ExeclabError, UntrustedError
from execlab.files import is_partial, read_regular, write_atomically
from execlab.registry import short_name
from execlab.training import checkpoints
from execlab.training.config import Config, config_from_dict
from execlab.training.hardware import commit, versions

if TYPE_CHECKING:
    from collections.abc import Mapping

FORMAT = 2  # of a run folder; raised when an older execlab could not read it
WRITTEN = ("config.json", "metrics.jsonl", "model.safetensors", "report.json", "report.md", "learning_curve.png")
REPLACED = WRITTEN[1:]  # what --force removes before a run begins again
LARGEST_CONFIG = 1 << 20  # bytes
_MARK = re.compile(r"[0-9a-f]{16}")  # of ownership; see locking.py


@dataclass(frozen=True)
class About:
    """What a run is: the content of config.json."""

    config: Config
    parameters: int
    versions: Mapping[str, str]
    commit: str | None
    data_version: int = DATA_VERSION

    def to_json(self) -> dict[str, Any]:
        """The description as JSON."""
        return {
            "format": FORMAT,
            "config": asdict(self.config),
            "data_version": self.data_version,
            "parameters": self.parameters,
            "versions": self.versions,
            "commit": self.commit,
        }


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
    about = About(config, parameters, versions(config), commit())
    write_atomically(folder / "config.json", (json.dumps(about.to_json(), indent=2) + "\n").encode(), root=folder)


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
    except UntrustedError:
        raise
    except ExeclabError as error:
        raise ExeclabError(f"the Config in {where} is not valid: {error}") from None


def check_resumable(about: About, folder: Path) -> None:
    """Raise if a run that is not over was begun with samples that this execlab does not draw."""
    if about.data_version != DATA_VERSION and not (folder / "report.json").exists():
        raise ExeclabError(
            f"{folder} was begun with data version {about.data_version}, and this execlab draws version "
            f"{DATA_VERSION}: finish it with the execlab that began it, or train it from the start: "
            f"execlab train --config {folder / 'config.json'} --out ANOTHER_FOLDER"
        )


def read_about(folder: Path) -> About:
    """The description of a run in its config.json."""
    path = folder / "config.json"
    try:
        about = json.loads(read_regular(path, LARGEST_CONFIG))
    except (FileNotFoundError, NotADirectoryError):
        raise ExeclabError(f"{folder} is not a run of execlab: it has no config.json") from None
    except ExeclabError:
        raise
    except (ValueError, RecursionError):
        raise ExeclabError(f"{path} is damaged: it is not JSON") from None
    config = config_from(about, path)
    parameters, libraries, code = (about.get(name) for name in ("parameters", "versions", "commit"))
    return About(
        config,
        parameters if isinstance(parameters, int) else 0,
        libraries if isinstance(libraries, dict) else {},
        code if isinstance(code, str) else None,
        about["data_version"],
    )
