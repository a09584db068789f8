"""Weights: the network of a Config, empty or filled from a file. Safe for files of unknown origin: everything in them
is compared with what the Config asks for before anything is built."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import torch
from torch.overrides import TorchFunctionMode

from execlab import registry
from execlab.data.splits import DATA_VERSION
from execlab.data.vocabulary import vocabulary_with
from execlab.errors import ExeclabError
from execlab.files import read_regular, write_atomically
from execlab.models import make_options, model_class, native
from execlab.training import checkpoints
from execlab.training.runs import FORMAT, config_from

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from typing import TypeVar

    from execlab.models.model import Model, Precision
    from execlab.training.checkpoints import Shapes
    from execlab.training.config import Config

    T = TypeVar("T")

MOST_PARAMETERS = 1_000_000_000
_STORED = {
    torch.float32: "F32",
    torch.float64: "F64",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
}  # their names in a file
_STORED |= {torch.int64: "I64", torch.int32: "I32", torch.int16: "I16", torch.int8: "I8", torch.uint8: "U8"}
_STORED |= {torch.bool: "BOOL"}
_OLD_NAMES = {"from_below.": "weight_ih.", "from_before.": "weight_hh."}  # of execlab 0.2


def vocabulary_of(config: Config) -> str:
    """The characters that a run's model knows."""
    return vocabulary_with(config.make_task().symbols)


def current_names(tensors: Mapping[str, T]) -> dict[str, T]:
    """Tensors by the names that they have today."""
    renamed = {}
    for name, tensor in tensors.items():
        old = next((prefix for prefix in _OLD_NAMES if name.startswith(prefix)), "")
        renamed[_OLD_NAMES.get(old, "") + name.removeprefix(old)] = tensor
    return renamed


def make_model(config: Config, *, learns: bool = True) -> Model:
    """The network of a Config, its parameters not yet set; one that only answers needs no compiled kernel."""
    size = sum(torch.Size(shape).numel() for _, shape in shapes(config).values())
    if size > MOST_PARAMETERS:
        raise ExeclabError(f"this network would have {size:,} parameters; at most {MOST_PARAMETERS:,} are allowed")
    kind, options = model_class(config.model), make_options(config.model, config.model_options)
    kernel = kind.find_kernel(options) if learns and config.kernel == "native" else None
    precision: Precision = "bfloat16" if learns and config.precision == "bfloat16" else "float32"
    kernel = replace(kernel, threads=config.threads or 1, chores=[]) if isinstance(kernel, native.Native) else None
    return _build(config, kernel, precision)


def sketch(config: Config) -> Model:
    """The network of a Config without memory for its parameters, to be asked about its size."""
    with torch.device("meta"), _Unfilled():
        return _build(config)


class _Unfilled(TorchFunctionMode):
    """Leaves out the random filling of parameters: without memory it does nothing but import PyTorch's compiler."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        kwargs = kwargs or {}
        if function.__name__ in ("normal_", "uniform_"):
            return args[0] if args else kwargs["tensor"]
        return function(*args, **kwargs)


def _build(config: Config, *how: Any) -> Model:
    options = make_options(config.model, config.model_options)
    return registry.build("model", config.model, model_class(config.model), len(vocabulary_of(config)), options, *how)


def shapes(config: Config) -> Shapes:
    """Names, dtypes and shapes of a Config's weights; takes no memory, however large they are."""
    tensors = sketch(config).state_dict()
    if odd := [name for name, tensor in tensors.items() if tensor.dtype not in _STORED]:
        raise ExeclabError(
            f"the model {config.model} has the tensor {odd[0]!r} of type {tensors[odd[0]].dtype}, which a file of "
            "weights cannot hold; register it as a buffer with persistent=False"
        )
    return {name: (_STORED[tensor.dtype], tuple(tensor.shape)) for name, tensor in tensors.items()}


def check_shapes(config: Config, stored: Shapes, where: Path) -> None:
    """Raise unless a file holds just the weights that its Config asks for."""
    wanted = shapes(config)
    if stored == wanted:
        return
    name = next(name for name in [*wanted, *stored] if stored.get(name) != wanted.get(name))
    has, needs = (_in_words(of.get(name)) for of in (stored, wanted))
    raise ExeclabError(f"the weights in {where} do not fit their Config: {name[:60]!r} is {has}, and should be {needs}")


def _in_words(tensor: tuple[str, tuple[int, ...]] | None) -> str:
    return "missing" if tensor is None else f"{tensor[0]} {list(tensor[1])}"[:60]


def save_model(folder: Path, config: Config, model: Model, check: Callable[[], None] = lambda: None) -> None:
    """The weights, with everything that is needed to use them."""
    about = {
        "format": FORMAT,
        "config": asdict(config),
        "data_version": DATA_VERSION,
        "vocabulary": vocabulary_of(config),
    }
    data = checkpoints.to_bytes(model.state_dict(), {"execlab": about})
    write_atomically(folder / "model.safetensors", data, check, root=folder)


def load_model(path: Path) -> tuple[Model, Config]:
    """A saved model; safe for files of unknown origin."""
    data = read_regular(path, checkpoints.LARGEST)
    stored, about = checkpoints.read_header(data)
    described: Any = about.get("execlab")
    config = config_from(described, path)
    if described.get("vocabulary") != vocabulary_of(config):
        raise ExeclabError(f"{path} was trained on another vocabulary: {str(described.get('vocabulary'))[:60]!r}")
    check_shapes(config, current_names(stored), path)
    model = make_model(config, learns=False)
    fill(model, current_names(checkpoints.from_bytes(data)[0]), path)
    return model, config


def data_version(path: Path) -> int:
    """The version of the samples that a saved model was trained on; `load_model` has checked it."""
    return int(checkpoints.read_header(read_regular(path, checkpoints.LARGEST))[1]["execlab"]["data_version"])


def check_checkpoint(config: Config, data: bytes, where: Path) -> None:
    """Raise unless a checkpoint's weights are those that a Config asks for."""
    stored, _ = checkpoints.read_header(data)
    weights = {name.removeprefix("model."): of for name, of in stored.items() if name.startswith("model.")}
    check_shapes(config, current_names(weights), where)


def load_checkpoint(folder: Path, config: Config) -> Model:
    """The model of a run that is not finished, as its newest whole checkpoint has it."""
    newest = checkpoints.newest(folder / "checkpoints")
    check_checkpoint(config, newest.data, newest.path)
    tensors = newest.load().tensors
    model = make_model(config, learns=False)
    weights = {name.removeprefix("model."): part for name, part in tensors.items() if name.startswith("model.")}
    fill(model, current_names(weights), newest.path)
    return model


def fill(model: Model, tensors: dict[str, torch.Tensor], where: Path) -> None:
    """Put saved weights into a model."""
    try:
        model.load_state_dict(tensors)
    except (RuntimeError, KeyError, TypeError) as error:
        reason = " ".join(str(error).split())[:120]
        raise ExeclabError(f"the weights in {where} do not fit their Config: {reason}") from None
