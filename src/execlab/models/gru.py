"""A gated recurrent unit (Cho et al., 2014) as PyTorch computes it, with the paper's initialisation.

    r, z = sigm, n = tanh(T(x) + r * T(h before));  h = (1 - z) * n + z * h

PyTorch keeps the gates in the order r, z, n.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from execlab.models.model import Matrix, Model, Precision
from execlab.models.options import GRUOptions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from execlab.models.kernel import Native

GATES = 3


class GRU(Model):
    """The network; its state is h, (layers, rows, n)."""

    Options = GRUOptions
    options: GRUOptions
    carries_state = True

    def __init__(
        self, vocabulary: int, options: GRUOptions, kernel: Native | None = None, precision: Precision = "float32"
    ) -> None:
        super().__init__(vocabulary, options, kernel, precision)
        cells, embedding = options.cells, options.embedding
        self.embedding = nn.Parameter(torch.empty(vocabulary, embedding))
        sizes = [embedding] + [cells] * (options.layers - 1)
        self.weight_ih = nn.ParameterList(torch.empty(GATES * cells, size) for size in sizes)
        self.weight_hh = nn.ParameterList(torch.empty(GATES * cells, cells) for _ in sizes)
        self.bias_ih = nn.ParameterList(torch.empty(GATES * cells) for _ in sizes)
        self.bias_hh = nn.ParameterList(torch.empty(GATES * cells) for _ in sizes)
        self.output = nn.Parameter(torch.empty(vocabulary, cells))
        self.output_bias = nn.Parameter(torch.empty(vocabulary))

    def initialize(self, seed: int) -> None:
        """Every parameter uniform in [-init, init]; then the update gates' bias set so that a cell forgets after 1 to
        `chrono` characters (Tallec & Ollivier, 2018)."""
        init, cells, chrono = self.options.init, self.options.cells, self.options.chrono
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.copy_(torch.empty(parameter.shape).uniform_(-init, init, generator=generator))
            for bias in self.bias_ih if chrono else ():
                spread = torch.empty(cells).uniform_(1, max(chrono, 2.0) - 1, generator=generator).log()
                bias[cells : 2 * cells] = spread

    def start(self, rows: int) -> Tensor:
        """Zeros."""
        return self.output.new_zeros(self.options.layers, rows, self.options.cells)

    def forward(self, ids: Tensor, batch_sizes: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """The top layer's h for every character."""
        weights: list[Tensor] = []
        for one in zip(self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh, strict=True):
            weights += one
        with torch.autocast(ids.device.type, torch.bfloat16, enabled=self._learns_in_bf16()):
            inputs = nn.functional.embedding(ids, self.embedding)  # (N, E)
            layers = self.options.layers
            h, last = torch.gru(inputs, batch_sizes, state, weights, True, layers, 0.0, self.training, False)
        return h, last.float()  # (N, n)

    def _learns_in_bf16(self) -> bool:
        return self.training and self.precision == "bfloat16"

    def logits(self, features: Tensor) -> Tensor:
        """A linear map."""
        with torch.autocast(features.device.type, torch.bfloat16, enabled=self._learns_in_bf16()):
            return nn.functional.linear(features, self.output, self.output_bias)

    def select(self, state: Tensor, rows: Tensor) -> Tensor:
        """These rows of h."""
        return state.index_select(1, rows)

    def activations(self, state: Tensor) -> dict[str, Tensor]:
        """What a cell keeps and shows (h)."""
        return self.pack_state(state)

    def pack_state(self, state: Tensor) -> dict[str, Tensor]:
        """The rows first: (rows, layers, n)."""
        return {"h": state.transpose(0, 1)}

    def unpack_state(self, tensors: Mapping[str, Tensor]) -> Tensor:
        """The inverse."""
        return tensors["h"].transpose(0, 1).contiguous()

    def matrices(self) -> list[Matrix]:
        """Every gate is a matrix of its own."""
        return [Matrix(parameter, GATES) for parameter in (*self.weight_ih, *self.weight_hh)]

    def flops_per_character(self) -> float:
        """Forward, and twice as many backward."""
        layers, cells, embedding = self.options.layers, self.options.cells, self.options.embedding
        return 6.0 * GATES * cells * (embedding + (2 * layers - 1) * cells)
