"""Optimizers and learning rates: the paper's SGD with its rule; AdamW and Muon with warm-up and decay."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from execlab.training.muon import Muon

if TYPE_CHECKING:
    from execlab.models.model import Model
    from execlab.training.config import Config

OTHERS_SHARE = 1.0  # muon: the learning rate of AdamW's part, relative to that of the matrices
DECAY = 0.8  # paper: "we decrease the learning rate by 0.8"


def make_optimizer(config: Config, model: Model) -> torch.optim.Optimizer:
    """The optimizer; its learning rate is set at every step."""
    learned = [parameter for parameter in model.parameters() if parameter.requires_grad]
    if config.optimizer == "sgd":
        return torch.optim.SGD(learned, lr=config.learning_rate)
    if config.optimizer == "muon":
        matrices = model.matrices()
        known = {id(matrix.parameter) for matrix in matrices}
        others = [parameter for parameter in learned if id(parameter) not in known]
        bf16 = config.precision == "bfloat16"
        return Muon(
            matrices, others, config.learning_rate, OTHERS_SHARE, config.weight_decay, bf16=bf16, kernel=model.kernel
        )
    # beta2: gradients of a curriculum change their scale within hundreds of steps
    return torch.optim.AdamW(
        learned,
        lr=config.learning_rate,
        betas=(0.9, 0.98),
        weight_decay=config.weight_decay,
        foreach=True,
    )


def trapezoid(config: Config, step: int, used: float) -> float:
    """The rate at a step when this share of the budget is used."""
    warm = min(1.0, (step + 1) / config.warmup) if config.warmup else 1.0
    cool = min(1.0, (1 - used) / config.decay) if config.decay else 1.0
    return config.learning_rate * warm * max(cool, 0.0)
