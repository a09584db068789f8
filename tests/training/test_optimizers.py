"""The optimizers: AdamW's part of Muon against PyTorch's, and what orthogonalising does."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from execlab.models import native
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


SHAPES = [((64, 16), 4), ((512, 128), 4), ((256, 64), 4), ((24, 40), 2), ((33, 8), 1), ((40, 70), 1)]


@pytest.mark.parametrize(("shape", "blocks"), SHAPES)
@pytest.mark.parametrize("bf16", [False, True])
def test_in_c_it_is_the_same(shape: tuple[int, int], blocks: int, bf16: bool) -> None:
    """As PyTorch does it, up to rounding; and with any number of threads to the bit."""
    kernel = native.load()
    if isinstance(kernel, str):
        pytest.skip(kernel)
    weights = []
    for used in (None, replace(kernel, threads=1), replace(kernel, threads=3)):
        rng = torch.Generator().manual_seed(0)
        parameters = [torch.nn.Parameter(torch.ones(size)) for size in (shape, (37,), (5, 3))]
        matrix, *others = parameters
        muon = Muon([Matrix(matrix, blocks)], others, 0.1, 0.5, weight_decay=0.01, bf16=bf16, kernel=used)
        for _ in range(3):
            for parameter in parameters:
                parameter.grad = torch.randn(parameter.shape, generator=rng)
            muon.step()
        weights.append([parameter.detach() for parameter in parameters])
    for theirs, ours, shared in zip(*weights, strict=True):
        assert torch.equal(ours, shared)
        exact = theirs.shape != shape or not bf16
        torch.testing.assert_close(ours, theirs, atol=2e-6 if exact else 0.01, rtol=1e-5)


def test_clipping_in_c() -> None:
    kernel = native.load()
    if isinstance(kernel, str):
        pytest.skip(kernel)
    norms, clipped = [], []
    for threads in (0, 1, 3):
        rng = torch.Generator().manual_seed(0)
        parameters = [torch.nn.Parameter(torch.zeros(size)) for size in (3, 50_001, 8_192)]
        for limit in (1e6, 2.0):
            for parameter in parameters:
                parameter.grad = torch.randn(parameter.shape, generator=rng)
            grads = [parameter.grad for parameter in parameters if parameter.grad is not None]
            if threads:
                norms.append(replace(kernel, threads=threads).clip(grads, limit))
            else:
                norms.append(torch.nn.utils.clip_grad_norm_(parameters, limit).item())
        clipped.append(torch.cat(grads))
    assert norms[2:4] == norms[4:] == pytest.approx(norms[:2], rel=1e-5)
    torch.testing.assert_close(clipped[0], clipped[1])
    assert torch.equal(clipped[1], clipped[2])
    lost = torch.full((9,), float("nan"))
    assert math.isnan(kernel.clip([lost], 1.0))


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
