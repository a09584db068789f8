"""Starting a run with another run's weights: transfer as a tool.

The Config names the weights and their digest, so a run that is repeated from its Config starts with the same numbers.
The model must be of the same kind and size; task, goal, strategy and training may differ. Where the new task has other
characters, each character keeps its row, and a new one starts as in a fresh model.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from execlab.errors import ExeclabError
from execlab.training.load import load
from execlab.training.weights import vocabulary_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torch import Tensor

    from execlab.models.model import Model
    from execlab.training.config import Config

_NAMED = re.compile(r"(?P<path>.+)@(?P<digest>[0-9a-f]{16})")


def digest_of(tensors: Mapping[str, Tensor]) -> str:
    """What tells weights apart: the beginning of a SHA-256 of their names and numbers."""
    digest = hashlib.sha256()
    for name in sorted(tensors):
        digest.update(name.encode() + tensors[name].detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()[:16]


def resolve_weights(config: Config) -> Config:
    """The Config with the digest of the weights that it starts with."""
    if config.weights is None or _NAMED.fullmatch(config.weights):
        return config
    model = load(config.weights).reader.model
    return replace(config, weights=f"{config.weights}@{digest_of(model.state_dict())}")


def start_with_weights(model: Model, config: Config) -> None:
    """Fill a fresh model with the weights that its Config names; nothing if it names none."""
    if config.weights is None:
        return
    named = _NAMED.fullmatch(config.weights)
    path = Path(named["path"] if named else config.weights)
    other = load(path)
    if other.config.model != config.model:
        raise ExeclabError(f"{path} is a model {other.config.model}, and this run is to train a {config.model}")
    tensors = other.reader.model.state_dict()
    if named and digest_of(tensors) != named["digest"]:
        raise ExeclabError(f"{path} holds other weights than those that this Config started with ({named['digest']})")
    old, new = other.reader.vocabulary, vocabulary_of(config)
    known = [place for place, character in enumerate(new) if character in old]
    theirs = [old.index(new[place]) for place in known]
    with torch.no_grad():
        for name, parameter in model.state_dict().items():
            given = tensors.get(name, torch.empty(0))
            same_width = given.shape[1:] == parameter.shape[1:]
            if old != new and same_width and (len(given), len(parameter)) == (len(old), len(new)):
                parameter[known] = given[theirs].to(parameter.device)  # a row per character
            elif given.shape == parameter.shape:
                parameter.copy_(given)
            else:
                has = list(given.shape) if name in tensors else "missing"
                raise ExeclabError(
                    f"{path} does not fit this run: {name} is {has}, and must be {list(parameter.shape)}"
                )
