"""Checkpoints: complete or absent, checked when read, and never anything but numbers and JSON.

A checkpoint is one safetensors file whose header holds the rest of the state as JSON. Its name holds the step and the
beginning of the file's SHA-256, so a damaged one is known as such; the two newest are kept.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
from typing import TYPE_CHECKING, Any, NamedTuple

from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors

from execlab.errors import ExeclabError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from torch import Tensor

KEPT = 2
_NAME = re.compile(r"step-(\d{9})-([0-9a-f]{16})\.safetensors")


class Checkpoint(NamedTuple):
    """What a run needs to go on."""

    step: int
    tensors: dict[str, Tensor]
    state: dict[str, Any]


def write_atomically(path: Path, data: bytes, check: Callable[[], None] = lambda: None) -> None:
    """The whole file under its name, or no such file; `check` may still refuse when everything else is done."""
    partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}.partial")  # no two processes write the same one
    try:
        with partial.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        check()
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    if hasattr(os, "O_DIRECTORY"):
        folder = os.open(path.parent, os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def to_bytes(tensors: Mapping[str, Tensor], about: Mapping[str, Any]) -> bytes:
    """Tensors and JSON as one safetensors file."""
    plain = {name: tensor.detach().contiguous().cpu() for name, tensor in tensors.items()}
    return save_tensors(plain, {name: json.dumps(value) for name, value in about.items()})


def from_bytes(data: bytes) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The inverse; an ExeclabError for anything that is not such a file."""
    try:
        tensors = load_tensors(data)
        size = int.from_bytes(data[:8], "little")
        header = json.loads(data[8 : 8 + size])
        return tensors, {name: json.loads(value) for name, value in header.get("__metadata__", {}).items()}
    except (SafetensorError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ExeclabError(f"this is not a safetensors file of execlab ({str(error)[:100]})") from None


def save(
    folder: Path,
    step: int,
    tensors: Mapping[str, Tensor],
    state: Mapping[str, Any],
    check: Callable[[], None] = lambda: None,
) -> None:
    """Write a checkpoint, then drop those before the last two."""
    folder.mkdir(exist_ok=True)
    data = to_bytes(tensors, {"state": state})
    digest = hashlib.sha256(data).hexdigest()[:16]
    write_atomically(folder / f"step-{step:09d}-{digest}.safetensors", data, check)
    check()
    for path in listed(folder)[KEPT:]:
        path.unlink(missing_ok=True)


def listed(folder: Path) -> list[Path]:
    """The checkpoints there are, newest first."""
    found = [path for path in folder.glob("step-*.safetensors") if _NAME.fullmatch(path.name)]
    return sorted(found, key=lambda path: path.name, reverse=True)


def newest_step(folder: Path) -> int:
    """How far the newest checkpoint is; 0 where there is none."""
    names = [_NAME.fullmatch(path.name) for path in listed(folder)[:1]]
    return next((int(name[1]) for name in names if name), 0)


def load_newest(folder: Path) -> tuple[Checkpoint, list[str]]:
    """The newest checkpoint that is whole, and a sentence about each newer one that is not."""
    complaints = []
    for path in listed(folder):
        name = _NAME.fullmatch(path.name)
        data = path.read_bytes()
        if name is None or hashlib.sha256(data).hexdigest()[:16] != name[2]:
            complaints.append(f"the checkpoint {path.name} is damaged; using the one before")
            continue
        tensors, about = from_bytes(data)
        return Checkpoint(int(name[1]), tensors, about["state"]), complaints
    told = "; ".join(complaints) or "there is none"
    raise ExeclabError(f"no usable checkpoint in {folder}: {told}")
