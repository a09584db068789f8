"""One LSTM layer over time for the CPU, forward and backward written out.

PyTorch's own recurrence records some twenty small operations per character for autograd. Here a character costs six
operations each way, and everything that does not depend on the step before is done for all characters at once: the
factors of the gates' gradients, and the gradients of the weights.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


class Recurrence(torch.autograd.Function):
    """`(projected, weight, h, c) -> (all h, last h, last c)`; gates in the order i, f, g, o."""

    @staticmethod
    def forward(ctx: Any, projected: Tensor, weight: Tensor, h0: Tensor, c0: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Through time: projected (T, B, 4n) is what comes from the layer below, bias included."""
        steps, rows, n = projected.shape[0], h0.shape[0], h0.shape[1]
        gates = torch.empty_like(projected)
        h, c = projected.new_empty(steps + 1, rows, n), projected.new_empty(steps + 1, rows, n)
        squashed = projected.new_empty(steps, rows, n)
        h[0], c[0] = h0, c0
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


def recur(projected: Tensor, weight: Tensor, h: Tensor, c: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """`Recurrence` as a function."""
    found: tuple[Tensor, Tensor, Tensor] = Recurrence.apply(projected, weight, h, c)  # type: ignore[no-untyped-call]
    return found
