"""The networks, behind one contract (model.py). A new one is one file here and one line in `MODELS`."""

from execlab.models.gru import GRU
from execlab.models.lstm import LSTM
from execlab.models.model import Matrix, Model, State, options_from
from execlab.models.transformer import Transformer, Universal

MODELS: dict[str, type[Model]] = {"lstm": LSTM, "gru": GRU, "transformer": Transformer, "universal": Universal}

__all__ = ["GRU", "LSTM", "MODELS", "Matrix", "Model", "State", "Transformer", "Universal", "options_from"]
