"""The networks: `(ids, state) -> (logits, state)`. A new one is one file here and one line in `MODELS`."""

from execlab.models.lstm import LSTM, State

MODELS = {"lstm": LSTM}

__all__ = ["LSTM", "MODELS", "State"]
