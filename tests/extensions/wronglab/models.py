"""Models that break their contract."""

from dataclasses import dataclass

import torch
from mylab.models import Tiny  # keeps the contract, so that each class below breaks it in its own way alone
from torch import nn

from execlab.models.model import Model


class Mute(Model):
    Options = Tiny.Options
    carries_state = True


class Bare(Model):
    carries_state = False


class Module(nn.Module):
    pass


class Loose(Tiny):
    class Options:
        units = 3


class Demanding(Tiny):
    @dataclass(frozen=True)
    class Options:
        units: int


class Refusing(Tiny):
    def __init__(self, vocabulary, options, kernel=None, precision="float32"):
        super().__init__(vocabulary, options, kernel, precision)
        raise RuntimeError("out of patience")


class Signature(Tiny):
    def __init__(self, units):
        super().__init__(41, units)


class Squeezed(Tiny):
    def logits(self, features):
        return self.output(features)[:, :-1]


class Unpacked(Tiny):
    """Takes the packed characters for those of one row."""

    def forward(self, ids, batch_sizes, state):
        before = torch.zeros_like(state[:1])
        features = []
        for number in ids:
            before = torch.tanh(self.embedding(number[None]) + self.recurrence(before))
            features.append(before)
        return torch.cat(features), state


class InPlace(Tiny):
    """Writes into the state that it is given."""

    def forward(self, ids, batch_sizes, state):
        features, after = super().forward(ids, batch_sizes, state)
        state.copy_(after)
        return features, state


class Unselected(Tiny):
    def select(self, state, rows):
        return state[: len(rows)]


class Flat(Tiny):
    def activations(self, state):
        return {"units": state}


class Idle(Tiny):
    def __init__(self, vocabulary, options, kernel=None, precision="float32"):
        super().__init__(vocabulary, options, kernel, precision)
        self.spare = nn.Linear(3, 3)


class Random(Tiny):
    def initialize(self, seed):
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -0.1, 0.1)


class Complex(Tiny):
    def __init__(self, vocabulary, options, kernel=None, precision="float32"):
        super().__init__(vocabulary, options, kernel, precision)
        self.register_buffer("angles", torch.ones(3, dtype=torch.complex64))


class Uncounted(Tiny):
    def flops_per_character(self):
        return "many"


class Aligned(Tiny):
    carries_state = False


class Nested(Tiny):
    """Its state is no tensor, so that a checkpoint of the stream needs pack_state."""

    def start(self, rows):
        return [super().start(rows)]

    def forward(self, ids, batch_sizes, state):
        features, after = super().forward(ids, batch_sizes, state[0])
        return features, [after]

    def select(self, state, rows):
        return [state[0][rows]]

    def activations(self, state):
        return super().activations(state[0])


class Later(Tiny):
    """Fails while it learns, not while it is tried."""

    def logits(self, features):
        if self.training and len(features) > 20:
            raise RuntimeError("too many characters")
        return super().logits(features)
