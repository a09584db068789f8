"""The optimizers: AdamW's part of Muon against PyTorch's, and what orthogonalising does."""

from __future__ import annotations

import pytest
import torch

from execlab.models.lstm import LSTM
from execlab.models.model import Matrix
from execlab.training.config import Optimizer, make_config
from execlab.training.muon import Muon, orthogonalize
from execlab.training.optimizers import make_optimizer


@pytest.mark.parametrize("shape", [(3, 16, 16), (2, 8, 20), (2, 20, 8)])
def test_orthogonalizing_brings_singular_values_near_one(shape: tuple[int, ...]) -> None:
    """The largest fast, the smallest only on the way: three iterations stretch what is small some 40 times."""
    matrices = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    matrices /= matrices.norm(dim=(1, 2), keepdim=True)
    before, values = torch.linalg.svdvals(matrices), torch.linalg.svdvals(orthogonalize(matrices))
    assert values.max() < 1.3
    assert (values > torch.minimum(30 * before, torch.tensor(0.6))).all()


def test_gates_are_orthogonalized_on_their_own() -> None:
    weight = torch.nn.Parameter(torch.zeros(32, 8))
    weight.grad = torch.randn(32, 8, generator=torch.Generator().manual_seed(0))
    weight.grad[:8] *= 1000  # one gate's large gradient must not drown the others
    Muon([Matrix(weight, 4)], [], lr=1.0, others_share=1.0, weight_decay=0.0).step()
    sizes = weight.detach().view(4, 8, 8).norm(dim=(1, 2))
    assert sizes.max() / sizes.min() < 1.5


def test_orthogonalizing_in_bfloat16_is_nearly_the_same() -> None:
    found = []
    for bf16 in (False, True):
        weight = torch.nn.Parameter(torch.zeros(64, 16))
        weight.grad = torch.randn(64, 16, generator=torch.Generator().manual_seed(0))
        Muon([Matrix(weight, 4)], [], lr=1.0, others_share=1.0, weight_decay=0.0, bf16=bf16).step()
        found.append(weight.detach())
    assert 0 < ((found[0] - found[1]).norm() / found[0].norm()).item() < 0.02


def test_the_rest_goes_through_adamw() -> None:
    ours, theirs = (torch.nn.Parameter(torch.ones(5)) for _ in range(2))
    muon = Muon([], [ours], lr=0.1, others_share=0.5, weight_decay=0.01)
    adamw = torch.optim.AdamW([theirs], lr=0.05, betas=(0.9, 0.98), weight_decay=0.01)
    for i in range(10):
        ours.grad = theirs.grad = torch.linspace(-1, 1, 5) * (i + 1)
        muon.step()
        adamw.step()
    torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("name", ["sgd", "adamw", "muon"])
def test_every_parameter_learns(name: Optimizer) -> None:
    model = LSTM(41, LSTM.Options(layers=2, cells=8, embedding=4, init=0.1))
    model.initialize(0)
    before = [parameter.detach().clone() for parameter in model.parameters()]
    optimizer = make_optimizer(make_config("smoke", optimizer=name), model)
    features, _ = model(torch.randint(0, 41, (18,)), torch.full((6,), 3), model.start(3))
    torch.autograd.backward(model.logits(features).square().sum())
    optimizer.step()
    for parameter, old in zip(model.parameters(), before, strict=True):
        assert not torch.equal(parameter, old)
