"""Checkpoints: complete or absent, checked when read, and never anything but numbers and JSON.

A checkpoint is one safetensors file whose header holds the rest of the state as JSON. Its name holds the step and the
beginning of the file's SHA-256, so a damaged one is known as such; the two newest are kept.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors

from execlab.errors import ExeclabError
from execlab.files import check_inside, read_regular, write_atomically

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from torch import Tensor

KEPT = 2
LARGEST = 1 << 33  # bytes of a file of weights
NAME = re.compile(r"step-(\d{9})-([0-9a-f]{16})\.safetensors")


Shapes = dict[str, tuple[str, tuple[int, ...]]]  # tensor: dtype and shape, as safetensors writes them


class Checkpoint(NamedTuple):
    """What a run needs to go on."""

    step: int
    tensors: dict[str, Tensor]
    state: dict[str, Any]


def to_bytes(tensors: Mapping[str, Tensor], about: Mapping[str, Any]) -> bytes:
    """Tensors and JSON as one safetensors file."""
    plain: dict[str, Tensor] = {}
    stored: set[int] = set()
    for name, tensor in tensors.items():
        there = tensor.detach().contiguous().cpu()
        plain[name] = there.clone() if there.data_ptr() in stored else there  # tied weights have two names
        stored.add(there.data_ptr())
    return save_tensors(plain, {name: json.dumps(value) for name, value in about.items()})


def read_header(data: bytes) -> tuple[Shapes, dict[str, Any]]:
    """Names, shapes and dtypes of the tensors of a safetensors file, and its JSON; no tensor is made."""
    try:
        size = int.from_bytes(data[:8], "little")
        header = json.loads(data[8 : 8 + size])
        about = {name: json.loads(value) for name, value in header.pop("__metadata__", {}).items()}
        return {name: (str(t["dtype"]), tuple(t["shape"])) for name, t in header.items()}, about
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise _not_ours(error) from None


def from_bytes(data: bytes) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The inverse of `to_bytes`; an ExeclabError for anything that is not such a file."""
    _, about = read_header(data)
    try:
        return load_tensors(data), about
    except (SafetensorError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise _not_ours(error) from None


def _not_ours(error: Exception) -> ExeclabError:
    return ExeclabError(f"this is not a safetensors file of execlab ({str(error)[:100]})")


def save(
    folder: Path,
    step: int,
    tensors: Mapping[str, Tensor],
    state: Mapping[str, Any],
    check: Callable[[], None] = lambda: None,
) -> None:
    """Write a checkpoint into the folder of a run, then drop those before the last two."""
    data = to_bytes(tensors, {"state": state})
    digest = hashlib.sha256(data).hexdigest()[:16]
    write_atomically(folder / f"step-{step:09d}-{digest}.safetensors", data, check, root=folder.parent)
    check()
    for path in listed(folder)[KEPT:]:
        path.unlink(missing_ok=True)


def listed(folder: Path) -> list[Path]:
    """The checkpoints there are, newest first."""
    paths = [path for path in folder.glob("step-*.safetensors") if NAME.fullmatch(path.name)]
    return sorted(paths, key=lambda path: path.name, reverse=True)


def newest_step(folder: Path) -> int:
    """How far the newest checkpoint is; 0 where there is none."""
    names = [NAME.fullmatch(path.name) for path in listed(folder)[:1]]
    return next((int(name[1]) for name in names if name), 0)


class Newest(NamedTuple):
    """The newest whole checkpoint of a run, its tensors not yet made, and the damaged ones that are newer."""

    path: Path
    step: int
    data: bytes
    damaged: list[Path]

    def load(self) -> Checkpoint:
        """The checkpoint itself."""
        tensors, about = from_bytes(self.data)
        if not isinstance(state := about.get("state"), dict):
            raise ExeclabError(f"the checkpoint {self.path.name} holds no state of a run")
        return Checkpoint(self.step, tensors, state)


def newest(folder: Path) -> Newest:
    """The newest checkpoint whose bytes are those that were written."""
    damaged: list[Path] = []
    for path in listed(folder):
        name = NAME.fullmatch(path.name)
        data = read_regular(path, LARGEST)
        if name is not None and hashlib.sha256(data).hexdigest()[:16] == name[2]:
            return Newest(path, int(name[1]), data, damaged)
        damaged.append(path)
    raise ExeclabError(f"no usable checkpoint in {folder}: {_complaint(damaged) or 'there is none'}")


def _complaint(damaged: list[Path]) -> str:
    return "; ".join(f"{path.name} is damaged" for path in damaged)


def set_aside(damaged: list[Path], root: Path) -> list[str]:
    """Rename damaged checkpoints, so that they count no longer among the newest; gives a sentence about each."""
    for path in damaged:
        check_inside(path, root)
        path.replace(path.with_name(f"{path.name}.damaged"))
    return [f"the checkpoint {path.name} is damaged; using the one before" for path in damaged]
