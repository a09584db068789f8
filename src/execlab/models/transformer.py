"""A decoder-only Transformer with rotary positions, and its universal form: one block applied several times.

A block is attention and a feed-forward layer, each after a norm and beside a residual path. Linear maps run over packed
characters; only attention needs a rectangle, whose corners are masked. The state is what attention looks back at: keys
and values of every character read, so that a character is computed once, while learning and while decoding alike.

`universal` is the Universal Transformer (Dehghani et al., 2018) without halting: all layers share one block, and a
learned embedding of the step is added before each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn

from execlab.models.model import Matrix, Model, Precision
from execlab.models.options import TransformerOptions

if TYPE_CHECKING:
    from execlab.models.kernel import Native

FEED_FORWARD = 4  # times the width
BASE = 10_000.0  # of the rotary wavelengths


class State(NamedTuple):
    """What each row has read."""

    keys: Tensor  # (layers, rows, L, n); rotated
    values: Tensor  # (layers, rows, L, n)
    lengths: Tensor  # (rows,): how many of the L characters are this row's
    features: Tensor  # (rows, n): of the last character read


class Packing(NamedTuple):
    """Where packed characters are in a rectangle of rows and places."""

    row: Tensor  # (N,)
    place: Tensor  # (N,)
    steps: int
    lengths: Tensor  # (rows,)


def unpack(batch_sizes: Tensor) -> Packing:
    """The row and the place of every packed character.

    >>> unpack(torch.tensor([2, 1])).row.tolist(), unpack(torch.tensor([2, 1])).place.tolist()
    ([0, 1, 0], [0, 0, 1])
    """
    steps, rows = len(batch_sizes), int(batch_sizes[0])
    read = batch_sizes[:, None] > torch.arange(rows)  # (T, B)
    place, row = read.nonzero(as_tuple=True)
    return Packing(row, place, steps, read.sum(0))


class Block(nn.Module):
    """Attention and feed-forward."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm_attention = nn.RMSNorm(width)
        self.query_key_value = nn.Parameter(torch.empty(3 * width, width))
        self.projection = nn.Parameter(torch.empty(width, width))
        self.norm_feed_forward = nn.RMSNorm(width)
        self.up = nn.Parameter(torch.empty(FEED_FORWARD * width, width))
        self.up_bias = nn.Parameter(torch.empty(FEED_FORWARD * width))
        self.down = nn.Parameter(torch.empty(width, FEED_FORWARD * width))
        self.down_bias = nn.Parameter(torch.empty(width))

    def feed_forward(self, x: Tensor) -> Tensor:
        """Wider, through a nonlinearity, and back."""
        hidden = nn.functional.gelu(nn.functional.linear(self.norm_feed_forward(x), self.up, self.up_bias))
        return nn.functional.linear(hidden, self.down, self.down_bias)


class Transformer(Model):
    """The network; features are those of the last layer after a norm."""

    Options = TransformerOptions
    options: TransformerOptions
    carries_state = False
    shared = False  # whether all layers are one block

    def __init__(
        self,
        vocabulary: int,
        options: TransformerOptions,
        kernel: Native | None = None,
        precision: Precision = "float32",
    ) -> None:
        super().__init__(vocabulary, options, kernel, precision)
        width = options.cells
        self.embedding = nn.Parameter(torch.empty(vocabulary, width))
        self.blocks = nn.ModuleList(Block(width) for _ in range(1 if self.shared else options.layers))
        self.step = nn.Parameter(torch.empty(options.layers, width)) if self.shared else None
        self.norm = nn.RMSNorm(width)
        self.output = nn.Parameter(torch.empty(vocabulary, width))
        self.output_bias = nn.Parameter(torch.empty(vocabulary))

    def initialize(self, seed: int) -> None:
        """Matrices normal with the inverse root of their fan-in, what ends in the residual path smaller; embeddings
        uniform in [-init, init], biases 0, norms 1."""
        generator = torch.Generator().manual_seed(seed)
        init, into_residual = self.options.init, (2 * self.options.layers) ** -0.5
        with torch.no_grad():
            for name, parameter in self.named_parameters():
                drawn = torch.empty(parameter.shape)
                if "norm" in name:
                    drawn.fill_(1.0)
                elif name.endswith("bias"):
                    drawn.zero_()
                elif name in ("embedding", "output", "step"):
                    drawn.uniform_(-init, init, generator=generator)
                else:
                    scale = into_residual if name.endswith(("projection", "down")) else 1.0
                    drawn.normal_(0, scale * parameter.shape[1] ** -0.5, generator=generator)
                parameter.copy_(drawn)

    def start(self, rows: int) -> State:
        """Nothing read."""
        nothing = self.output.new_zeros(self.options.layers, rows, 0, self.options.cells)
        lengths = torch.zeros(rows, dtype=torch.int64, device=self.output.device)
        return State(nothing, nothing, lengths, self.output.new_zeros(rows, self.options.cells))

    def forward(self, ids: Tensor, batch_sizes: Tensor, state: State) -> tuple[Tensor, State]:
        """Read packed characters after what the state holds."""
        enabled = self.training and self.precision == "bfloat16"
        with torch.autocast(ids.device.type, torch.bfloat16, enabled=enabled):
            return self._read(ids, unpack(batch_sizes), state)

    def _read(self, ids: Tensor, packing: Packing, state: State) -> tuple[Tensor, State]:
        device = ids.device
        row, place, new = packing.row.to(device), packing.place.to(device), packing.lengths.to(device)
        before = state.lengths
        position = before[row] + place  # (N,) in its row
        longest = int((before + new).max())
        rotation = _rotation(position, self.options.cells // self.options.heads)
        mask = None  # rows that begin together: each place looks at those before it
        if state.keys.shape[2]:
            reach = before[:, None] + torch.arange(packing.steps, device=device)  # the position of each query
            mask = (torch.arange(longest, device=device) <= reach[:, :, None])[:, None]  # (rows, 1, T, L)
        x = nn.functional.embedding(ids, self.embedding)  # (N, n)
        keys, values = [], []
        for layer in range(self.options.layers):
            block = self.blocks[0 if self.shared else layer]
            assert isinstance(block, Block)  # noqa: S101 - for the type checker
            if self.step is not None:
                x = x + self.step[layer]
            qkv = nn.functional.linear(block.norm_attention(x), block.query_key_value)  # (N, 3n)
            query, key, value = qkv.chunk(3, dim=1)
            query, key = self._rotate(query, rotation), self._rotate(key, rotation)
            keys.append(_append(state.keys[layer], key, row, position, longest))
            values.append(_append(state.values[layer], value, row, position, longest))
            queries = query.new_zeros(len(before), packing.steps, query.shape[1]).index_put((row, place), query)
            attended = self._attend(queries, keys[-1], values[-1], mask)[row, place]  # (N, n)
            x = x + nn.functional.linear(attended, block.projection)
            x = x + block.feed_forward(x)
        features = self.norm(x)
        last = features.new_zeros(len(before), features.shape[1]).index_put(
            (row[place == new[row] - 1],), features[place == new[row] - 1]
        )
        return features, State(torch.stack(keys), torch.stack(values), before + new, last)

    def _attend(self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
        heads = self.options.heads
        q, k, v = (part.reshape(*part.shape[:2], heads, -1).transpose(1, 2) for part in (queries, keys, values))
        attended = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=mask is None)
        return attended.transpose(1, 2).flatten(2)

    def _rotate(self, x: Tensor, rotation: tuple[Tensor, Tensor]) -> Tensor:
        """Turn pairs of numbers of every head by the position's angles."""
        cosine, sine = rotation
        first, second = x.reshape(len(x), self.options.heads, 2, -1).unbind(2)  # (N, heads, d/2)
        turned = torch.stack([first * cosine - second * sine, first * sine + second * cosine], dim=2)
        return turned.flatten(1).to(x.dtype)

    def logits(self, features: Tensor) -> Tensor:
        """A linear map."""
        enabled = self.training and self.precision == "bfloat16"
        with torch.autocast(features.device.type, torch.bfloat16, enabled=enabled):
            return nn.functional.linear(features, self.output, self.output_bias)

    def select(self, state: State, rows: Tensor) -> State:
        """These rows, no longer than the longest of them."""
        lengths = state.lengths[rows]
        longest = int(lengths.max()) if len(lengths) else 0
        keys, values = (part.index_select(1, rows)[:, :, :longest] for part in (state.keys, state.values))
        return State(keys, values, lengths, state.features[rows])

    def activations(self, state: State) -> dict[str, Tensor]:
        """The features of the last character, and what each layer keeps of it for later."""
        rows = torch.arange(len(state.lengths), device=state.lengths.device)
        kept = {"key": state.keys, "value": state.values}
        last = {name: part[:, rows, state.lengths - 1].transpose(0, 1) for name, part in kept.items()}
        return {"features": state.features[:, None], **last}

    def matrices(self) -> list[Matrix]:
        """Queries, keys and values apart; the feed-forward maps whole."""
        every: list[Matrix] = []
        for block in self.blocks:
            assert isinstance(block, Block)  # noqa: S101 - for the type checker
            every += [Matrix(block.query_key_value, 3), Matrix(block.projection)]
            every += [Matrix(block.up, FEED_FORWARD), Matrix(block.down)]
        return every

    def flops_per_character(self) -> float:
        """Forward, and twice as many backward; attention itself is small beside the maps at these lengths."""
        return 6.0 * self.options.layers * (4 + 2 * FEED_FORWARD) * self.options.cells**2


class Universal(Transformer):
    """One block, applied `layers` times."""

    shared = True


def _rotation(position: Tensor, size: int) -> tuple[Tensor, Tensor]:
    frequencies = BASE ** (-torch.arange(0, size, 2, device=position.device) / size)
    angles = position[:, None, None] * frequencies  # (N, 1, size / 2)
    return angles.cos(), angles.sin()


def _append(kept: Tensor, new: Tensor, row: Tensor, position: Tensor, longest: int) -> Tensor:
    """What was kept (rows, L, n), widened to the longest row, with the new characters (N, n) in their places."""
    wider = nn.functional.pad(kept.to(new.dtype), (0, 0, 0, longest - kept.shape[1]))
    return wider.index_put((row, position), new)
