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
    from execlab.models.native import Native

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


class NativeRecurrence(torch.autograd.Function):
    """The same in C."""

    @staticmethod
    def forward(
        ctx: Any, projected: Tensor, weight: Tensor, h0: Tensor, c0: Tensor, rows: Tensor, native: Native
    ) -> Outputs:
        """Through time."""
        projected = projected.contiguous()
        gates, h, c, squashed = _room(projected, h0, c0)
        native.forward(rows, projected, weight, gates, h, c, squashed)
        ctx.save_for_backward(weight, gates, h, c, squashed, rows)
        ctx.native = native
        return h[len(h0) :], _last(h, rows), _last(c, rows)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        """Back through time."""
        weight, gates, h, c, squashed, rows = ctx.saved_tensors
        change = torch.empty_like(gates)
        dh, dc = (grad.clone() for grad in grads[1:])
        ctx.native.backward(rows, grads[0].contiguous(), weight, gates, c, squashed, change, dh, dc)
        return change, change.t().mm(_before(h, rows)), dh, dc, None, None


class HalfRecurrence(torch.autograd.Function):
    """The same with products in bfloat16: h, weights and what the gates' inputs are blamed for have that precision;
    sums, gates, c and the weights that learn stay in float32.

    What comes from below is a table (V, 4n) whose rows `ids` choose, bias included, or (N, 4n) in bfloat16 and a bias.
    """

    @staticmethod
    def forward(
        ctx: Any,
        below: Tensor,
        ids: Tensor | None,
        bias: Tensor | None,
        weight: Tensor,
        h0: Tensor,
        c0: Tensor,
        rows: Tensor,
        native: Native,
    ) -> Outputs:
        """Through time."""
        n, first = h0.shape[1], len(h0)
        characters = int(rows.sum())
        if ids is not None:
            ids = ids.long().contiguous()
            if int(ids.min()) < 0 or int(ids.max()) >= len(below):
                raise IndexError(f"a character's number is not among the {len(below)} of the table")
        # A state that is carried may come from PyTorch, and then in bfloat16.
        h, c = torch.empty(first + characters, n, dtype=torch.bfloat16), torch.empty(first + characters, n)
        h[:first], c[:first] = h0, c0
        gates, squashed = torch.empty(characters, 4 * n), torch.empty(characters, n)
        half_weight = weight.bfloat16()
        native.half_forward(rows, ids, below.contiguous(), bias, half_weight, gates, h, c, squashed)
        ctx.save_for_backward(half_weight, gates, h, c, squashed, rows, ids)
        ctx.native, ctx.table = native, len(below)
        return h[first:], _last(h, rows).float(), _last(c, rows)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        """Back through time."""
        half_weight, gates, h, c, squashed, rows, ids = ctx.saved_tensors
        change = torch.empty_like(gates, dtype=torch.bfloat16)
        dh, dc = (grad.clone() for grad in grads[1:])
        ctx.native.backward(rows, grads[0].contiguous(), half_weight, gates, c, squashed, change, dh, dc)
        of_weight = ctx.native.half_outer(change, _before(h, rows))
        if ids is None:
            return change, None, ctx.native.half_gather(change, None, 1)[0], of_weight, dh, dc, None, None
        return ctx.native.half_gather(change, ids, ctx.table), None, None, of_weight, dh, dc, None, None


class HalfLinear(torch.autograd.Function):
    """`x @ weight.T` for x (N, m) in bfloat16, and so its output."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, native: Native) -> Tensor:
        """Forward."""
        x, half_weight = x.contiguous(), weight.bfloat16()
        ctx.save_for_backward(x, half_weight)
        ctx.native = native
        return x.mm(half_weight.t().contiguous())  # a copy of the weights is cheaper than a product that transposes

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        """Backward."""
        x, half_weight = ctx.saved_tensors
        grad = grads[0].contiguous()
        return grad.mm(half_weight), ctx.native.half_outer(grad, x), None


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


def recur(
    projected: Tensor, weight: Tensor, h: Tensor, c: Tensor, rows: Tensor, native: Native | None = None
) -> Outputs:
    """One layer over time, in C if that is at hand; gives every h, and each row's last h and c."""
    found: Outputs
    if native is None:
        found = Recurrence.apply(projected, weight, h, c, rows)  # type: ignore[no-untyped-call]
    else:
        found = NativeRecurrence.apply(projected, weight, h, c, rows, native)  # type: ignore[no-untyped-call]
    return found


def half_recur(
    below: Tensor,
    ids: Tensor | None,
    bias: Tensor | None,
    weight: Tensor,
    h: Tensor,
    c: Tensor,
    rows: Tensor,
    native: Native,
) -> Outputs:
    """The same with products in bfloat16."""
    found: Outputs = HalfRecurrence.apply(below, ids, bias, weight, h, c, rows, native)  # type: ignore[no-untyped-call]
    return found


def half_linear(x: Tensor, weight: Tensor, native: Native) -> Tensor:
    """A product in bfloat16."""
    found: Tensor = HalfLinear.apply(x, weight, native)  # type: ignore[no-untyped-call]
    return found
