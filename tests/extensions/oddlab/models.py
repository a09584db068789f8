"""A model with everything that a plain one lacks."""

import torch
from mylab.models import Tiny
from torch import nn

from execlab.models.model import Matrix


class Odd(Tiny):
    """Dropout, one matrix for embedding and output, a buffer of integers, an unused frozen parameter, a state of two
    parts, and no options of its own beyond those of Tiny."""

    def __init__(self, vocabulary, options, kernel=None, precision="float32"):
        super().__init__(vocabulary, options, kernel, precision)
        self.output.weight = self.embedding.weight
        self.dropout = nn.Dropout(0.3)
        self.register_buffer("version", torch.tensor([3, 1]))
        self.frozen = nn.Parameter(torch.empty(2, 2), requires_grad=False)

    def start(self, rows):
        return super().start(rows), torch.zeros(rows, dtype=torch.int64, device=self.output.weight.device)

    def forward(self, ids, batch_sizes, state):
        features, after = super().forward(ids, batch_sizes, state[0])
        read = (batch_sizes[:, None].to(ids.device) > torch.arange(len(state[1]), device=ids.device)).sum(0)
        return self.dropout(features), (after, state[1] + read)

    def select(self, state, rows):
        return state[0][rows], state[1][rows]

    def activations(self, state):
        return {"units": state[0][:, None], "read": state[1][:, None, None].float()}

    def matrices(self):
        return [Matrix(self.recurrence.weight)]

    def pack_state(self, state):
        return {"units": state[0], "read": state[1]}

    def unpack_state(self, tensors):
        return tensors["units"], tensors["read"]
