"""Muon: momentum whose matrices are made nearly orthogonal before they are applied, of a gate or a head's projection.

An update then moves every direction of a matrix alike, which learns these tasks from fewer samples than AdamW needs
(docs/log.md). Embedding, output and biases are not such matrices and go through AdamW.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from execlab.models.kernel import Native
    from execlab.models.model import Matrix

# Quintic iteration that brings singular values near 1 fast rather than exactly there (Jordan et al., 2024).
COEFFICIENTS = (3.4445, -4.7750, 2.0315)
ITERATIONS = 3  # five cost a third of a step more and learn no better here (docs/log.md)


def orthogonalize(matrices: Tensor) -> Tensor:
    """Matrices (K, n, m) with their singular values brought near 1."""
    a, b, c = COEFFICIENTS
    tall = matrices.shape[1] > matrices.shape[2]
    x: Tensor = matrices.transpose(1, 2) if tall else matrices
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(ITERATIONS):
        square = x @ x.transpose(1, 2)
        square = torch.baddbmm(square, square, square, beta=b, alpha=c)
        x = torch.baddbmm(x, square, x, beta=a)
    return x.transpose(1, 2) if tall else x


class Muon(torch.optim.Optimizer):
    """Muon for `matrices`, stacked (blocks * n, m), AdamW for the `others`; both follow one learning rate."""

    def __init__(
        self,
        matrices: Sequence[Matrix],
        others: Iterable[Tensor],
        lr: float,
        others_share: float,
        weight_decay: float,
        momentum: float = 0.95,
        betas: tuple[float, float] = (0.9, 0.98),
        bf16: bool = False,
        kernel: Native | None = None,
    ) -> None:
        self.others_share, self.bf16, self.kernel = others_share, bf16, kernel
        self.blocks = {id(matrix.parameter): matrix.blocks for matrix in matrices}
        self.momentum, self.betas = momentum, betas
        groups = [
            {"params": [matrix.parameter for matrix in matrices], "muon": True},
            {"params": list(others), "muon": False},
        ]
        super().__init__(groups, {"lr": lr, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        """Apply the gradients."""
        del closure
        matrices, others = self.param_groups
        for parameter in matrices["params"]:
            if not self.state[parameter]:
                self.state[parameter]["momentum"] = torch.zeros_like(parameter)
        for parameter in others["params"]:
            slots = self.state[parameter]
            if not slots:
                slots["step"] = torch.zeros(())
                slots["mean"], slots["square"] = torch.zeros_like(parameter), torch.zeros_like(parameter)
            slots["step"] += 1
        if self.kernel is not None:
            self._in_c(self.kernel, matrices, others)
        else:
            self._muon(matrices)
            self._adamw(others)

    def _in_c(self, kernel: Native, matrices: dict[str, Any], others: dict[str, Any]) -> None:
        stacks = [
            (self.blocks[id(parameter)], parameter, parameter.grad, self.state[parameter]["momentum"])
            for parameter in matrices["params"]
        ]
        stacks.sort(key=lambda stack: -stack[1].numel() // stack[0])  # the longest work first
        rest, corrections = [], set()
        fast, slow = self.betas
        for parameter in others["params"]:
            slots = self.state[parameter]
            rest.append((parameter, parameter.grad, slots["mean"], slots["square"]))
            corrections.add((1 - fast ** float(slots["step"]), 1 - slow ** float(slots["step"])))
        ((of_mean, of_square),) = corrections or {(1.0, 1.0)}
        rate = others["lr"] * self.others_share
        numbers = (
            *COEFFICIENTS,
            matrices["lr"],
            1 - matrices["lr"] * matrices["weight_decay"],
            1 - self.momentum,
            1 - fast,
            1 - slow,
            rate / of_mean,
            1 / of_square,
            1 - rate * others["weight_decay"],
        )
        kernel.update(stacks, rest, numbers, ITERATIONS, half=self.bf16)

    def _muon(self, group: dict[str, Any]) -> None:
        by_shape: dict[tuple[int, ...], list[Tensor]] = {}
        for parameter in group["params"]:
            self.state[parameter]["momentum"].lerp_(parameter.grad, 1 - self.momentum)
            blocks = self.blocks[id(parameter)]
            by_shape.setdefault((blocks, *parameter.shape), []).append(parameter)
        for (blocks, rows, columns), parameters in by_shape.items():
            n = rows // blocks
            # Nesterov: a step ahead of the momentum.
            ahead = [self.state[p]["momentum"].lerp(p.grad, 1 - self.momentum) for p in parameters]
            matrices = torch.cat([update.view(blocks, n, columns) for update in ahead])
            # Rounding to bfloat16 moves an update by less than what three iterations leave undone.
            orthogonal = orthogonalize(matrices.bfloat16()).float() if self.bf16 else orthogonalize(matrices)
            updates = orthogonal * max(1.0, n / columns) ** 0.5
            for parameter, update in zip(parameters, torch.split(updates, blocks), strict=True):
                parameter.mul_(1 - group["lr"] * group["weight_decay"])
                parameter.add_(update.reshape(rows, columns), alpha=-group["lr"])

    def _adamw(self, group: dict[str, Any]) -> None:
        rate = group["lr"] * self.others_share
        fast, slow = self.betas
        for parameter in group["params"]:
            slots = self.state[parameter]
            steps = float(slots["step"])
            slots["mean"].lerp_(parameter.grad, 1 - fast)
            slots["square"].lerp_(parameter.grad.square(), 1 - slow)
            spread = (slots["square"] / (1 - slow**steps)).sqrt_().add_(1e-8)
            parameter.mul_(1 - rate * group["weight_decay"])
            parameter.addcdiv_(slots["mean"], spread, value=-rate / (1 - fast**steps))
