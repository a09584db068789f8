"""One LSTM layer over time for the CPU, forward and backward written out.

PyTorch's own recurrence records some twenty small operations per character for autograd. Here a character costs six
operations each way, and everything that does not depend on the step before is done for all characters at once: the
factors of the gates' gradients, and the gradients of the weights.

Rows drop out as their samples end, so nothing is padded: character t is read by the first `rows[t]` rows, never more
than the one before, and the blocks of all characters lie one after the other (N = sum of rows).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from execlab.models.model import last_places

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execlab.models.kernel import Native

Outputs = tuple[Tensor, Tensor, Tensor]


class Recurrence(torch.autograd.Function):
    """`(projected, weight, h, c, rows) -> (all h, last h, last c)`; gates in the order i, f, g, o."""

    @staticmethod
    def forward(ctx: Any, projected: Tensor, weight: Tensor, h0: Tensor, c0: Tensor, rows: Tensor) -> Outputs:
        """Through time: projected (N, 4n) is what comes from the layer below, bias included."""
        n, counts = h0.shape[1], rows.tolist()
        gates, h, c, squashed = _room(projected, h0, c0)
        transposed = weight.t()
        hs, cs = torch.split(h, [len(h0), *counts]), torch.split(c, [len(h0), *counts])
        steps = zip(
            torch.split(projected, counts), torch.split(gates, counts), torch.split(squashed, counts), strict=True
        )
        for t, (below, gate, squash) in enumerate(steps):
            i, f, g, o = torch.split(gate, n, dim=1)
            torch.addmm(below, hs[t][: counts[t]], transposed, out=gate)
            gate[:, : 2 * n].sigmoid_()
            g.tanh_()
            o.sigmoid_()
            torch.mul(f, cs[t][: counts[t]], out=cs[t + 1]).addcmul_(i, g)
            torch.mul(o, torch.tanh(cs[t + 1], out=squash), out=hs[t + 1])
        ctx.save_for_backward(weight, gates, h, c, squashed, rows)
        return h[len(h0) :], _last(h, rows), _last(c, rows)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        """Back through time."""
        weight, gates, h, c, squashed, rows = ctx.saved_tensors
        n, counts = squashed.shape[1], rows.tolist()
        i, f, g, o = torch.split(gates, n, dim=1)
        # What each gate's input does to c or h, all characters at once.
        factors = torch.empty_like(gates).view(-1, 4, n)
        factors[:, 0] = g * i * (1 - i)
        factors[:, 1] = _before(c, rows) * f * (1 - f)
        factors[:, 2] = i * (1 - g * g)
        factors[:, 3] = squashed * o * (1 - o)
        into_c = o * (1 - squashed * squashed)
        change = torch.empty_like(gates)
        dh, dc = (grad.clone() for grad in grads[1:])
        slices = zip(
            counts,
            torch.split(grads[0], counts),
            torch.split(into_c, counts),
            torch.split(factors, counts),
            torch.split(change, counts),
            torch.split(f, counts),
            strict=True,
        )
        for count, from_above, through, factor, step, forget in reversed(list(slices)):
            of_h, of_c, by_gate = dh[:count], dc[:count], step.view(count, 4, n)
            of_h.add_(from_above)
            of_c.addcmul_(of_h, through)
            torch.mul(factor[:, :3], of_c[:, None], out=by_gate[:, :3])
            torch.mul(factor[:, 3], of_h, out=by_gate[:, 3])
            of_c.mul_(forget)
            torch.mm(step, weight, out=of_h)
        return change, change.t().mm(_before(h, rows)), dh, dc, None


class NativeLSTM(torch.autograd.Function):
    """All layers in C: `(ids, rows, table, h, c, native, half, weights) -> (all h, last h, last c)`.

    What a character is to the gates of the first layer is a row of the table (V, 4n), bias included. The weights are
    weight_hh of the first layer, and weight_ih, weight_hh and bias of every other one. With matmuls in bfloat16, h,
    weights and the gradients of the gates' inputs are rounded where they are multiplied; sums, gates, c and the
    weights that learn stay in float32.
    """

    @staticmethod
    def forward(
        ctx: Any,
        ids: Tensor,
        rows: Tensor,
        table: Tensor,
        h0: Tensor,
        c0: Tensor,
        native: Native,
        half: bool,
        *weights: Tensor,
    ) -> Outputs:
        """Through time."""
        ids, table = ids.long().contiguous(), table.contiguous()
        if len(ids) and (int(ids.min()) < 0 or int(ids.max()) >= len(table)):
            raise IndexError(f"a character's number is not among the {len(table)} of the table")
        # A state that is carried may come from PyTorch, and then in bfloat16.
        h0, c0 = h0.float().contiguous(), c0.float().contiguous()
        count, (depth, batch, n) = len(ids), h0.shape
        dtype = torch.bfloat16 if half else torch.float32
        last_h, last_c = torch.empty_like(h0), torch.empty_like(c0)
        layers = []
        for layer in range(depth):
            own = (
                dict(zip(("weight_ih", "weight_hh", "bias"), weights[3 * layer - 2 : 3 * layer + 1], strict=True))
                if layer
                else {"weight_hh": weights[0]}
            )
            layer_arrays = {name: weight.contiguous() for name, weight in own.items()}
            layer_arrays |= {
                "h0": h0[layer],
                "c0": c0[layer],
                "h": torch.empty(batch + count, n, dtype=dtype),
                "gates": torch.empty(count, 4 * n),
                "c": torch.empty(batch + count, n),
                "squashed": torch.empty(count, n),
                "last_h": last_h[layer],
                "last_c": last_c[layer],
                "panels_ih": torch.empty(4 * n, n, dtype=dtype),
                "panels_hh": torch.empty(4 * n, n, dtype=dtype),
            }
            layers.append(layer_arrays)
        sizes = (int(half), depth, n, len(rows), len(table))
        native.lstm("forward", sizes, (rows, ids, table), layers)
        ctx.save_for_backward(ids, rows, table, *weights)
        for layer_arrays in layers:  # outputs that their own node holds would stay until garbage is collected
            del layer_arrays["last_h"], layer_arrays["last_c"]
        ctx.native, ctx.sizes, ctx.layers = native, sizes, layers
        return layers[-1]["h"][batch:], last_h, last_c

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        """Back through time."""
        ids, rows, table, *_ = ctx.saved_tensors
        half, depth, n, *_ = ctx.sizes
        count, padded = len(ids), len(ids) + len(ids) % 2
        dtype = torch.bfloat16 if half else torch.float32
        dh, dc = (grad.float().clone(memory_format=torch.contiguous_format) for grad in grads[1:])
        layers = [dict(layer) for layer in ctx.layers]
        for number, layer in enumerate(layers):
            layer["dh"], layer["dc"] = dh[number], dc[number]
            layer["change"] = torch.empty(count, 4 * n, dtype=dtype)
            layer["before"], layer["d_hh"] = torch.empty(padded, n, dtype=dtype), torch.empty(4 * n, n)
            layer["d_below"] = torch.empty(4 * n) if number else torch.empty_like(table)
            if number:
                layer["below"], layer["d_ih"] = torch.empty(padded, n, dtype=dtype), torch.empty(4 * n, n)
            top = number == depth - 1
            layer["above"] = grads[0].float().contiguous() if top else torch.empty(count, n)
        ctx.native.lstm("backward", ctx.sizes, (rows, ids, table), layers)
        of_weights = [layers[0]["d_hh"]]
        for layer in layers[1:]:
            of_weights += [layer["d_ih"], layer["d_hh"], layer["d_below"]]
        return None, None, layers[0]["d_below"], dh, dc, None, None, *of_weights


def _room(projected: Tensor, h0: Tensor, c0: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Room for gates, h, c and tanh of c, the first h and c set."""
    (rows, n), characters = h0.shape, len(projected)
    h, c = projected.new_empty(rows + characters, n), projected.new_empty(rows + characters, n)
    h[:rows], c[:rows] = h0, c0
    return torch.empty_like(projected), h, c, projected.new_empty(characters, n)


def _before(states: Tensor, rows: Tensor) -> Tensor:
    """What each character found (N, n), of the first states and those after each character (B + N, n)."""
    first, last = int(rows[0]), int(rows[-1])
    if first == last:
        return states[:-last]
    begins = torch.cat([rows.new_tensor([0, first]), first + rows.cumsum(0)])  # of the blocks of `states`
    shift = torch.repeat_interleave(begins[:-2] - (begins[1:-1] - first), rows)
    return states.index_select(0, torch.arange(len(shift)) + shift)


def _last(states: Tensor, rows: Tensor) -> Tensor:
    """Every row's last state (B, n), of the first states and those after each character (B + N, n)."""
    first = int(rows[0])
    if first == int(rows[-1]):
        return states[-first:].clone()
    return states.index_select(0, first + last_places(rows))


def recur(projected: Tensor, weight: Tensor, h: Tensor, c: Tensor, rows: Tensor) -> Outputs:
    """One layer over time; gives every h, and each row's last h and c."""
    outputs: Outputs = Recurrence.apply(projected, weight, h, c, rows)  # type: ignore[no-untyped-call]
    return outputs


def recur_in_c(
    ids: Tensor,
    rows: Tensor,
    table: Tensor,
    state: tuple[Tensor, Tensor],
    native: Native,
    weights: Sequence[Tensor],
    *,
    half: bool,
) -> Outputs:
    """All layers over time; gives every h of the top layer, and each layer's and row's last h and c."""
    outputs: Outputs = NativeLSTM.apply(ids, rows, table, *state, native, half, *weights)  # type: ignore[no-untyped-call]
    return outputs
