"""The networks, behind one contract (model.py). A new one is one file here and two lines: its class and its options.

`MODELS` holds import paths, the form in which a model from outside is named too: PyTorch is imported with the model.
"""

from __future__ import annotations

from dataclasses import is_dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from execlab.errors import ExeclabError
from execlab.models.options import OPTIONS
from execlab.registry import build, find

if TYPE_CHECKING:
    from collections.abc import Mapping

    from execlab.models.model import Model

MODELS: dict[str, str] = {
    "lstm": "execlab.models.lstm:LSTM",
    "gru": "execlab.models.gru:GRU",
    "transformer": "execlab.models.transformer:Transformer",
    "universal": "execlab.models.transformer:Universal",
}
NEEDS: tuple[str, ...] = (
    "Options",
    "carries_state",
    "find_kernel",
    "initialize",
    "start",
    "forward",
    "logits",
    "select",
)
NEEDS += ("activations", "matrices", "flops_per_character", "state_dict", "load_state_dict")


def model_class(name: str) -> type[Model]:
    """The class behind a name or a trusted import path."""
    kind = find("model", name, MODELS, NEEDS)
    if isinstance(kind, str):
        module, _, attribute = kind.partition(":")
        kind = getattr(import_module(module), attribute)
    built: type[Model] = kind
    return built


def options_class(name: str) -> type:
    """The dataclass of a model's options."""
    if name in OPTIONS:
        return OPTIONS[name]
    kind: type = model_class(name).Options
    if not (isinstance(kind, type) and is_dataclass(kind)):
        raise ExeclabError(f"{name} is not a model: its Options is not a dataclass")
    return kind


def make_options(name: str, options: Mapping[str, Any]) -> Any:
    """The options of a model as its dataclass."""
    return build("model", name, options_class(name), **options)


__all__ = ["MODELS", "OPTIONS", "make_options", "model_class", "options_class"]
