"""A plain tanh recurrence."""

from dataclasses import dataclass

import torch
from torch import nn

from execlab.models.model import Matrix, Model
from execlab.options import option


class Tiny(Model):
    """The new state is tanh of the character's embedding and of the state before, through one matrix."""

    @dataclass(frozen=True)
    class Options:
        units: int = option(64, "Units of the recurrence.", 1, 4_096)

    carries_state = True  # it may read an endless stream

    def __init__(self, vocabulary, options, kernel=None, precision="float32"):
        super().__init__(vocabulary, options, kernel, precision)
        self.embedding = nn.Embedding(vocabulary, options.units)
        self.recurrence = nn.Linear(options.units, options.units)
        self.output = nn.Linear(options.units, vocabulary)

    def start(self, rows):
        return self.output.weight.new_zeros(rows, self.options.units)

    def forward(self, ids, batch_sizes, state):
        features = []
        for characters in ids.split(batch_sizes.tolist()):  # one for every row that is still being read
            rows = len(characters)
            features.append(torch.tanh(self.embedding(characters) + self.recurrence(state[:rows])))
            state = torch.cat([features[-1], state[rows:]])
        return torch.cat(features), state

    def logits(self, features):
        return self.output(features)

    def select(self, state, rows):
        return state[rows]

    def activations(self, state):
        return {"units": state[:, None]}  # (rows, layers, units)

    def matrices(self):
        return [Matrix(self.recurrence.weight)]
