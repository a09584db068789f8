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
        return h[len(h0) :], hs[-1].clone(), cs[-1].clone()

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
        dh, dc = (_of_last(grad, rows) for grad in grads[1:])
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
        left = int(rows[-1])
        return h[len(h0) :], h[-left:].clone(), c[-left:].clone()

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        """Back through time."""
        weight, gates, h, c, squashed, rows = ctx.saved_tensors
        change = torch.empty_like(gates)
        dh, dc = (_of_last(grad, rows) for grad in grads[1:])
        ctx.native.backward(rows, grads[0].contiguous(), weight, gates, c, squashed, change, dh, dc)
        return change, change.t().mm(_before(h, rows)), dh, dc, None, None


class HalfRecurrence(torch.autograd.Function):
    """The same with products in bfloat16; state, sums over time and everything else stay in float32."""

    @staticmethod
    def forward(
        ctx: Any, projected: Tensor, weight: Tensor, h0: Tensor, c0: Tensor, rows: Tensor, native: Native
    ) -> Outputs:
        """Through time."""
        counts = rows.tolist()
        gates, h, c, squashed = _room(projected, h0, c0)
        half_h = torch.empty_like(h, dtype=torch.bfloat16)
        half_h[: len(h0)] = h0
        product = torch.empty_like(projected[: len(h0)], dtype=torch.bfloat16)
        half_weight = weight.bfloat16()
        transposed = half_weight.t().contiguous()
        hs, halves, cs = (torch.split(part, [len(h0), *counts]) for part in (h, half_h, c))
        steps = zip(
            counts,
            torch.split(projected, counts),
            torch.split(gates, counts),
            torch.split(squashed, counts),
            strict=True,
        )
        for t, (count, below, gate, squash) in enumerate(steps):
            torch.mm(halves[t][:count], transposed, out=product[:count])
            native.half_forward(below, product, gate, cs[t], cs[t + 1], hs[t + 1], halves[t + 1], squash)
        ctx.save_for_backward(half_weight, gates, half_h, c, squashed, rows)
        ctx.native = native
        return h[len(h0) :], hs[-1].clone(), cs[-1].clone()

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        """Back through time."""
        half_weight, gates, half_h, c, squashed, rows = ctx.saved_tensors
        counts = rows.tolist()
        change, half_change = torch.empty_like(gates), torch.empty_like(gates, dtype=torch.bfloat16)
        dh, dc = (_of_last(grad, rows) for grad in grads[1:])
        dh = dh.bfloat16()
        slices = zip(
            counts,
            torch.split(grads[0].contiguous(), counts),
            torch.split(gates, counts),
            torch.split(c, [counts[0], *counts])[:-1],
            torch.split(squashed, counts),
            torch.split(change, counts),
            torch.split(half_change, counts),
            strict=True,
        )
        for count, above, gate, c_before, squash, step, half_step in reversed(list(slices)):
            ctx.native.half_backward(above, dh, gate, c_before, squash, dc, step, half_step)
            torch.mm(half_step, half_weight, out=dh[:count])
        return change, half_change.t().mm(_before(half_h, rows)).float(), dh.float(), dc, None, None


class HalfLinear(torch.autograd.Function):
    """`x @ weight.T` (T, B, m) with products in bfloat16."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor) -> Tensor:
        """Forward."""
        half_x, half_weight = x.bfloat16(), weight.bfloat16()
        ctx.save_for_backward(half_x, half_weight)
        return torch.matmul(half_x, half_weight.t()).float()

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor]:
        """Backward."""
        half_x, half_weight = ctx.saved_tensors
        half_grad = grads[0].bfloat16()
        flat = half_grad.flatten(0, -2)
        return torch.matmul(half_grad, half_weight).float(), flat.t().mm(half_x.flatten(0, -2)).float()


def linear(x: Tensor, weight: Tensor, bias: Tensor, *, half: bool) -> Tensor:
    """A linear map, its product in bfloat16 if asked for."""
    if not half:
        return torch.nn.functional.linear(x, weight, bias)
    return HalfLinear.apply(x, weight) + bias  # type: ignore[no-untyped-call, no-any-return]


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


def _of_last(grad: Tensor, rows: Tensor) -> Tensor:
    """The gradient of the last state, 0 for rows that have dropped out."""
    whole = grad.new_zeros(int(rows[0]), grad.shape[1])
    whole[: len(grad)] = grad
    return whole


def recur(
    projected: Tensor,
    weight: Tensor,
    h: Tensor,
    c: Tensor,
    rows: Tensor,
    native: Native | None = None,
    *,
    half: bool = False,
) -> Outputs:
    """One layer over time, in C if that is at hand, and then with products in bfloat16 if asked for.

    The last h and c are those of the rows that are left at the end.
    """
    found: Outputs
    if native is None:
        found = Recurrence.apply(projected, weight, h, c, rows)  # type: ignore[no-untyped-call]
    else:
        chosen = HalfRecurrence if half else NativeRecurrence
        found = chosen.apply(projected, weight, h, c, rows, native)  # type: ignore[no-untyped-call]
    return found
