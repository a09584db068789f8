"""The paper's deep LSTM (section 5), one bias per gate, no peepholes.

    i, f, o = sigm, g = tanh of T(h of the layer below, h before);  c = f * c + i * g;  h = o * tanh(c)

Learning on a CPU has a recurrence of its own (recurrence.py); everything else is PyTorch's, and so runs on oneDNN,
cuDNN or MPS. PyTorch keeps the gates in the order i, f, g, o.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from execlab.models.recurrence import half_linear, half_recur, recur

if TYPE_CHECKING:
    from execlab.models.native import Native

State = tuple[Tensor, ...]


class LSTM(nn.Module):
    """Characters in, logits of the next character out: `(ids, state) -> (logits, state)`."""

    no_bias: Tensor

    def __init__(self, vocabulary: int, layers: int, cells: int, embedding: int) -> None:
        super().__init__()
        self.layers, self.cells = layers, cells
        self.native: Native | None = None
        self.embedding = nn.Parameter(torch.empty(vocabulary, embedding))
        sizes = [embedding] + [cells] * (layers - 1)
        self.from_below = nn.ParameterList(torch.empty(4 * cells, size) for size in sizes)
        self.from_before = nn.ParameterList(torch.empty(4 * cells, cells) for _ in sizes)
        self.bias = nn.ParameterList(torch.empty(4 * cells) for _ in sizes)
        self.output = nn.Parameter(torch.empty(vocabulary, cells))
        self.output_bias = nn.Parameter(torch.empty(vocabulary))
        # PyTorch's recurrence wants a second bias; the paper has one.
        self.register_buffer("no_bias", torch.zeros(4 * cells), persistent=False)

    def initialize(self, seed: int, init: float, forget_bias: float, chrono: float = 0.0) -> None:
        """Every parameter uniform in [-init, init]; then the forget gates' bias raised, or the biases of forget and
        input gates set so that a cell forgets after 1 to `chrono` characters (Tallec & Ollivier, 2018)."""
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.copy_(torch.empty(parameter.shape).uniform_(-init, init, generator=generator))
            for bias in self.bias:
                if chrono:
                    spread = torch.empty(self.cells).uniform_(1, max(chrono, 2.0) - 1, generator=generator).log()
                    bias[: self.cells], bias[self.cells : 2 * self.cells] = -spread, spread
                bias[self.cells : 2 * self.cells] += forget_bias

    def start(self, rows: int) -> State:
        """The zero state of so many rows."""
        zeros = self.output.new_zeros(self.layers, rows, self.cells)
        return zeros, zeros

    def read(self, ids: Tensor, state: State) -> tuple[Tensor, State]:
        """The top layer's h for every character of `ids` (T, B), and the state after the last one."""
        if torch.is_grad_enabled():
            steps, rows = ids.shape
            h, state = self.read_rows(ids.flatten(), torch.full((steps,), rows), state)
            return h.view(steps, rows, self.cells), state
        inputs = nn.functional.embedding(ids, self.embedding)  # (T, B, E)
        h, *after = torch.lstm(inputs, state, self._weights(), True, self.layers, 0.0, False, False, False)
        return h, tuple(after)  # (T, B, n)

    def read_rows(self, ids: Tensor, rows: Tensor, state: State) -> tuple[Tensor, State]:
        """The same for learning, where rows drop out as they end: the first `rows[t]` of them read character t, all
        characters one after the other in `ids`. The state is that of the rows that are left at the end."""
        half = torch.is_autocast_enabled("cpu")
        if ids.device.type == "cpu" and (self.native is not None or not half):
            with torch.autocast("cpu", enabled=False):
                return self._read_written_out(ids, rows, state, half=half)
        inputs = nn.functional.embedding(ids, self.embedding)  # (N, E)
        h, *after = torch.lstm(inputs, rows, state, self._weights(), True, self.layers, 0.0, True, False)
        return h, tuple(part[:, : int(rows[-1])] for part in after)  # (N, n)

    def _weights(self) -> list[Tensor]:
        weights: list[Tensor] = []
        for below, before, bias in zip(self.from_below, self.from_before, self.bias, strict=True):
            weights += [below, before, bias, self.no_bias]
        return weights

    def _read_written_out(self, ids: Tensor, rows: Tensor, state: State, *, half: bool) -> tuple[Tensor, State]:
        # A character's way through the first layer's weights is a row of a small table.
        table = nn.functional.linear(self.embedding, self.from_below[0], self.bias[0])  # (V, 4n)
        h, hs, cs = table, [], []
        for layer, (below, before, bias) in enumerate(zip(self.from_below, self.from_before, self.bias, strict=True)):
            h0, c0 = state[0][layer], state[1][layer]
            if half and self.native is not None:
                rest = (before, h0, c0, rows, self.native)
                if layer:
                    h, last_h, last_c = half_recur(half_linear(h, below, self.native), None, bias, *rest)
                else:
                    h, last_h, last_c = half_recur(table, ids, None, *rest)
            else:
                functional = nn.functional
                projected = functional.linear(h, below, bias) if layer else functional.embedding(ids, table)  # (N, 4n)
                h, last_h, last_c = recur(projected, before, h0, c0, rows, self.native)
            hs.append(last_h)
            cs.append(last_c)
        return h, (torch.stack(hs), torch.stack(cs))

    def logits(self, h: Tensor) -> Tensor:
        """What h says about the next character."""
        return nn.functional.linear(h, self.output, self.output_bias)

    def forward(self, ids: Tensor, state: State) -> tuple[Tensor, State]:
        """Logits for every character of `ids` (T, B), and the state after the last one."""
        h, state = self.read(ids, state)
        return self.logits(h), state  # (T, B, V)
