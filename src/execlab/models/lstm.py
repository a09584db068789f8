"""The paper's deep LSTM (section 5), one bias per gate, no peepholes.

    i, f, o = sigm, g = tanh of T(h of the layer below, h before);  c = f * c + i * g;  h = o * tanh(c)

Learning on a CPU has a recurrence of its own (recurrence.py); everything else is PyTorch's, and so runs on oneDNN,
cuDNN or MPS. PyTorch keeps the gates in the order i, f, g, o.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from execlab.models import native
from execlab.models.model import Matrix, Model, Precision
from execlab.models.options import LSTMOptions
from execlab.models.recurrence import recur, recur_in_c

if TYPE_CHECKING:
    from collections.abc import Mapping

    from execlab.models.kernel import Native

State = tuple[Tensor, Tensor]  # h and c, (layers, rows, n) each
GATES = 4


class LSTM(Model):
    """The network; while it learns it uses the kernel and the precision that it was built with."""

    Options = LSTMOptions
    options: LSTMOptions
    carries_state = True
    no_bias: Tensor

    def __init__(
        self,
        vocabulary: int,
        options: LSTMOptions,
        kernel: Native | None = None,
        precision: Precision = "float32",
    ) -> None:
        super().__init__(vocabulary, options, kernel, precision)
        cells, layers, embedding = options.cells, options.layers, options.embedding
        self.embedding = nn.Parameter(torch.empty(vocabulary, embedding))
        sizes = [embedding] + [cells] * (layers - 1)
        self.weight_ih = nn.ParameterList(torch.empty(GATES * cells, size) for size in sizes)
        self.weight_hh = nn.ParameterList(torch.empty(GATES * cells, cells) for _ in sizes)
        self.bias = nn.ParameterList(torch.empty(GATES * cells) for _ in sizes)
        self.output = nn.Parameter(torch.empty(vocabulary, cells))
        self.output_bias = nn.Parameter(torch.empty(vocabulary))
        # PyTorch's recurrence wants a second bias; the paper has one.
        self.register_buffer("no_bias", torch.zeros(GATES * cells), persistent=False)

    @staticmethod
    def find_kernel(options: LSTMOptions) -> Native | str:
        """The recurrence in C, if it fits the number of cells."""
        return native.usable(options.cells)

    def initialize(self, seed: int) -> None:
        """Every parameter uniform in [-init, init]; then the forget gates' bias raised, or the biases of forget and
        input gates set so that a cell forgets after 1 to `chrono` characters (Tallec & Ollivier, 2018)."""
        init, cells, chrono = self.options.init, self.options.cells, self.options.chrono
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.copy_(torch.empty(parameter.shape).uniform_(-init, init, generator=generator))
            for bias in self.bias:
                if chrono:
                    spread = torch.empty(cells).uniform_(1, max(chrono, 2.0) - 1, generator=generator).log()
                    bias[:cells], bias[cells : 2 * cells] = -spread, spread
                bias[cells : 2 * cells] += self.options.forget_bias

    def start(self, rows: int) -> State:
        """Zeros."""
        zeros = self.output.new_zeros(self.options.layers, rows, self.options.cells)
        return zeros, zeros

    def forward(self, ids: Tensor, batch_sizes: Tensor, state: State) -> tuple[Tensor, State]:
        """The top layer's h for every character; learning takes the kernel, answering PyTorch's recurrence."""
        learns_in_bf16 = self.training and self.precision == "bfloat16"
        if self.training and ids.device.type == "cpu" and (self.kernel is not None or not learns_in_bf16):
            return self._learn(ids, batch_sizes, state)
        with torch.autocast(ids.device.type, torch.bfloat16, enabled=learns_in_bf16):
            inputs = nn.functional.embedding(ids, self.embedding)  # (N, E)
            weights = self._weights()
            h, last_h, last_c = torch.lstm(
                inputs, batch_sizes, state, weights, True, self.options.layers, 0.0, self.training, False
            )
        return h, (last_h, last_c)  # (N, n)

    def _weights(self) -> list[Tensor]:
        weights: list[Tensor] = []
        for below, before, bias in zip(self.weight_ih, self.weight_hh, self.bias, strict=True):
            weights += [below, before, bias, self.no_bias]
        return weights

    def _learn(self, ids: Tensor, batch_sizes: Tensor, state: State) -> tuple[Tensor, State]:
        # A character's way through the first layer's weights is a row of a small table.
        table = nn.functional.linear(self.embedding, self.weight_ih[0], self.bias[0])  # (V, 4n)
        if self.kernel is not None:
            weights = [self.weight_hh[0]]
            for of_layer in list(zip(self.weight_ih, self.weight_hh, self.bias, strict=True))[1:]:
                weights += of_layer
            half = self.precision == "bfloat16"
            h, last_h, last_c = recur_in_c(ids, batch_sizes, table, state, self.kernel, weights, half=half)
            return h, (last_h, last_c)
        h, hs, cs = table, [], []
        for layer, (below, before, bias) in enumerate(zip(self.weight_ih, self.weight_hh, self.bias, strict=True)):
            functional = nn.functional
            projected = functional.linear(h, below, bias) if layer else functional.embedding(ids, table)  # (N, 4n)
            h, last_h, last_c = recur(projected, before, state[0][layer], state[1][layer], batch_sizes)
            hs.append(last_h)
            cs.append(last_c)
        return h, (torch.stack(hs), torch.stack(cs))

    def logits(self, features: Tensor) -> Tensor:
        """A linear map; in bfloat16 while learning in it."""
        learns_in_bf16 = self.training and self.precision == "bfloat16"
        with torch.autocast(features.device.type, torch.bfloat16, enabled=learns_in_bf16):
            return nn.functional.linear(features, self.output, self.output_bias)

    def select(self, state: State, rows: Tensor) -> State:
        """These rows of h and c."""
        h, c = state
        return h.index_select(1, rows), c.index_select(1, rows)

    def activations(self, state: State) -> dict[str, Tensor]:
        """What a cell shows (h) and what it keeps (c)."""
        return self.pack_state(state)

    def pack_state(self, state: State) -> dict[str, Tensor]:
        """The rows first: (rows, layers, n)."""
        return {name: part.transpose(0, 1) for name, part in zip(("h", "c"), state, strict=True)}

    def unpack_state(self, tensors: Mapping[str, Tensor]) -> State:
        """The inverse."""
        h, c = (tensors[name].transpose(0, 1).contiguous() for name in ("h", "c"))
        return h, c

    def matrices(self) -> list[Matrix]:
        """Every gate is a matrix of its own."""
        return [Matrix(parameter, GATES) for parameter in (*self.weight_ih, *self.weight_hh)]

    def flops_per_character(self) -> float:
        """Forward, and twice as many backward; the first layer's input is a row of a table."""
        layers, cells = self.options.layers, self.options.cells
        return 6.0 * (2 * layers - 1) * GATES * cells * cells
