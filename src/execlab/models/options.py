"""The options of the built-in models. They stand apart from the networks, so that a Config needs no PyTorch."""

from __future__ import annotations

from dataclasses import dataclass

from execlab.errors import ExeclabError
from execlab.options import TINY, option

LAYERS = "Layers; universal: how often its block is applied."
CELLS = "Cells per layer; transformer, universal: the width."
EMBEDDING = "lstm, gru: size of a character's embedding."
INIT = "Parameters start uniform within plus or minus this."
CHRONO = "lstm, gru: start cells with memories of 1 to this many characters; 0: all alike."


@dataclass(frozen=True)
class LSTMOptions:
    """What an LSTM is; the defaults are the paper's."""

    layers: int = option(2, LAYERS, 1, 100)
    cells: int = option(400, CELLS, 1, 65_536)
    embedding: int = option(400, EMBEDDING, 1, 65_536)
    init: float = option(0.08, INIT, TINY, 1e3)
    forget_bias: float = option(0.0, "lstm: added to the forget gates' bias at the start.", -1e3, 1e3)
    chrono: float = option(0.0, CHRONO, 0, 1e6)


@dataclass(frozen=True)
class GRUOptions:
    """What a GRU is."""

    layers: int = option(2, LAYERS, 1, 100)
    cells: int = option(400, CELLS, 1, 65_536)
    embedding: int = option(400, EMBEDDING, 1, 65_536)
    init: float = option(0.08, INIT, TINY, 1e3)
    chrono: float = option(0.0, CHRONO, 0, 1e6)


@dataclass(frozen=True)
class TransformerOptions:
    """What a Transformer is; `cells` is its width."""

    layers: int = option(4, LAYERS, 1, 100)
    cells: int = option(128, CELLS, 1, 65_536)
    heads: int = option(4, "transformer, universal: attention heads.", 1, 1_024)
    init: float = option(0.08, INIT, TINY, 1e3)

    def __post_init__(self) -> None:
        if self.cells % (2 * self.heads):
            raise ExeclabError(
                f"cells is {self.cells}; for {self.heads} heads it must be a multiple of {2 * self.heads}"
            )


OPTIONS: dict[str, type] = {
    "lstm": LSTMOptions,
    "gru": GRUOptions,
    "transformer": TransformerOptions,
    "universal": TransformerOptions,
}
