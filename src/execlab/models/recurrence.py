"""One LSTM layer over time for the CPU, forward and backward written out.

PyTorch's own recurrence records some twenty small operations per character for autograd. Here a character costs six
operations each way, and everything that does not depend on the step before is done for all characters at once: the
factors of the gates' gradients, and the gradients of the weights.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

if TYPE_CHECKING:
    from execlab.models.native import Native


class Recurrence(torch.autograd.Function):
    """`(projected, weight, h, c) -> (all h, last h, last c)`; gates in the order i, f, g, o."""

    @staticmethod
    def forward(ctx: Any, projected: Tensor, weight: Tensor, h0: Tensor, c0: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Through time: projected (T, B, 4n) is what comes from the layer below, bias included."""
        steps, n = projected.shape[0], h0.shape[1]
        gates, h, c, squashed = _room(projected, h0, c0)
        transposed = weight.t()
        hs, cs, i_f = h.unbind(), c.unbind(), gates[:, :, : 2 * n].unbind()
        i, f, g, o = (gate.unbind() for gate in torch.split(gates, n, dim=2))
        for t, (below, gate, squash) in enumerate(
            zip(projected.unbind(), gates.unbind(), squashed.unbind(), strict=True)
        ):
            torch.addmm(below, hs[t], transposed, out=gate)
            i_f[t].sigmoid_()
            g[t].tanh_()
            o[t].sigmoid_()
            torch.mul(f[t], cs[t], out=cs[t + 1]).addcmul_(i[t], g[t])
            torch.mul(o[t], torch.tanh(cs[t + 1], out=squash), out=hs[t + 1])
        ctx.save_for_backward(weight, gates, h, c, squashed)
        return h[1:], h[steps].clone(), c[steps].clone()

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Back through time."""
        above, dh, dc = grads
        weight, gates, h, c, squashed = ctx.saved_tensors
        steps, rows, n = squashed.shape
        i, f, g, o = torch.split(gates, n, dim=2)
        # What each gate's input does to c or h, all characters at once.
        factors = torch.empty_like(gates).view(steps, rows, 4, n)
        factors[:, :, 0] = g * i * (1 - i)
        factors[:, :, 1] = c[:-1] * f * (1 - f)
        factors[:, :, 2] = i * (1 - g * g)
        factors[:, :, 3] = squashed * o * (1 - o)
        into_c = o * (1 - squashed * squashed)
        change = torch.empty_like(gates)
        dh, dc = dh.clone(), dc.clone()
        wide = dc[:, None]
        by_gate = change.view(steps, rows, 4, n)
        slices = zip(
            above.unbind(),
            into_c.unbind(),
            factors[:, :, :3].unbind(),
            factors[:, :, 3].unbind(),
            by_gate[:, :, :3].unbind(),
            by_gate[:, :, 3].unbind(),
            f.unbind(),
            change.unbind(),
            strict=True,
        )
        for from_above, through, of_c, of_h, to_ifg, to_o, forget, step in reversed(list(slices)):
            dh.add_(from_above)
            dc.addcmul_(dh, through)
            torch.mul(of_c, wide, out=to_ifg)
            torch.mul(of_h, dh, out=to_o)
            dc.mul_(forget)
            torch.mm(step, weight, out=dh)
        flat = change.view(steps * rows, 4 * n)
        return change, flat.t().mm(h[:-1].reshape(steps * rows, n)), dh, dc


class NativeRecurrence(torch.autograd.Function):
    """The same in C."""

    @staticmethod
    def forward(
        ctx: Any, projected: Tensor, weight: Tensor, h0: Tensor, c0: Tensor, native: Native
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Through time."""
        projected = projected.contiguous()
        gates, h, c, squashed = _room(projected, h0, c0)
        native.forward(projected, weight, gates, h, c, squashed)
        ctx.save_for_backward(weight, gates, h, c, squashed)
        ctx.native = native
        return h[1:], h[-1].clone(), c[-1].clone()

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, None]:
        """Back through time."""
        above, dh, dc = grads
        weight, gates, h, c, squashed = ctx.saved_tensors
        steps, rows, n = squashed.shape
        change = torch.empty_like(gates)
        dh, dc = dh.clone(), dc.clone()
        ctx.native.backward(above.contiguous(), weight, gates, c, squashed, change, dh, dc)
        flat = change.view(steps * rows, 4 * n)
        return change, flat.t().mm(h[:-1].reshape(steps * rows, n)), dh, dc, None


class HalfRecurrence(torch.autograd.Function):
    """The same with products in bfloat16; state, sums over time and everything else stay in float32."""

    @staticmethod
    def forward(
        ctx: Any, projected: Tensor, weight: Tensor, h0: Tensor, c0: Tensor, native: Native
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Through time."""
        gates, h, c, squashed = _room(projected, h0, c0)
        half_h = torch.empty_like(h, dtype=torch.bfloat16)
        half_h[0] = h0
        product = torch.empty_like(projected[0], dtype=torch.bfloat16)
        half_weight = weight.bfloat16()
        transposed = half_weight.t().contiguous()
        slices = zip(projected.unbind(), half_h.unbind(), gates.unbind(), c.unbind(), squashed.unbind(), strict=False)
        for t, (below, before, gate, c_before, squash) in enumerate(slices):
            torch.mm(before, transposed, out=product)
            native.half_forward(below, product, gate, c_before, c[t + 1], h[t + 1], half_h[t + 1], squash)
        ctx.save_for_backward(half_weight, gates, half_h, c, squashed)
        ctx.native = native
        return h[1:], h[-1].clone(), c[-1].clone()

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, None]:
        """Back through time."""
        above, dh, dc = grads[0].contiguous(), grads[1].bfloat16(), grads[2].clone()
        half_weight, gates, half_h, c, squashed = ctx.saved_tensors
        steps, rows, n = squashed.shape
        change, half_change = torch.empty_like(gates), torch.empty_like(gates, dtype=torch.bfloat16)
        for t in reversed(range(steps)):
            ctx.native.half_backward(above[t], dh, gates[t], c[t], squashed[t], dc, change[t], half_change[t])
            torch.mm(half_change[t], half_weight, out=dh)
        flat = half_change.view(steps * rows, 4 * n)
        return change, flat.t().mm(half_h[:-1].view(steps * rows, n)).float(), dh.float(), dc, None


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
    steps, rows, n = projected.shape[0], h0.shape[0], h0.shape[1]
    h, c = projected.new_empty(steps + 1, rows, n), projected.new_empty(steps + 1, rows, n)
    h[0], c[0] = h0, c0
    return torch.empty_like(projected), h, c, projected.new_empty(steps, rows, n)


def recur(
    projected: Tensor, weight: Tensor, h: Tensor, c: Tensor, native: Native | None = None, *, half: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    """One layer over time, in C if that is at hand, and then with products in bfloat16 if asked for."""
    found: tuple[Tensor, Tensor, Tensor]
    if native is None:
        found = Recurrence.apply(projected, weight, h, c)  # type: ignore[no-untyped-call]
    else:
        chosen = HalfRecurrence if half else NativeRecurrence
        found = chosen.apply(projected, weight, h, c, native)  # type: ignore[no-untyped-call]
    return found
