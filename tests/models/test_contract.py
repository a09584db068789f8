"""What every network promises, whichever it is: `MODELS` is iterated, so a new one is tested by being listed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from execlab.data.vocabulary import VOCABULARY
from execlab.errors import ExeclabError
from execlab.evaluation.decoding import Reader, answer
from execlab.models import MODELS, model_class
from execlab.models.model import Model, last_places
from execlab.tasks import Sample
from execlab.training import hardware, loop, weights
from execlab.training.config import SIZES, Config, make_config

if TYPE_CHECKING:
    from pathlib import Path

V = len(VOCABULARY)
CLOSE: dict[str, Any] = {"atol": 1e-5, "rtol": 1e-5}
every_model = pytest.mark.parametrize("name", MODELS)


def config_of(name: str, **changes: Any) -> Config:
    return make_config("smoke", model=name, **changes)


def network(name: str, seed: int = 3) -> Model:
    model = weights.make_model(config_of(name, init=0.5, kernel="torch"))
    model.initialize(seed)
    return model.eval()


def texts(lengths: list[int]) -> list[Tensor]:
    rng = torch.Generator().manual_seed(1)
    return [torch.randint(0, V, (length,), generator=rng) for length in lengths]


def pack(rows: list[Tensor]) -> tuple[Tensor, Tensor]:
    sizes = torch.tensor([sum(len(row) > t for row in rows) for t in range(len(rows[0]))])
    return torch.stack([row[t] for t in range(len(rows[0])) for row in rows if len(row) > t]), sizes


LENGTHS = [9, 9, 6, 5, 5, 1]


@every_model
@pytest.mark.parametrize("learning", [True, False])
def test_a_batch_is_as_if_each_row_were_read_alone(name: str, learning: bool) -> None:
    """Features, states and gradients."""
    model = network(name).train(learning)
    rows = texts(LENGTHS)
    ids, sizes = pack(rows)
    features, state = model(ids, sizes, model.start(len(rows)))
    alone = [model(row, torch.ones(len(row), dtype=torch.int64), model.start(1)) for row in rows]
    expected = torch.stack([alone[row][0][t] for t in range(9) for row in range(int(sizes[t]))])
    torch.testing.assert_close(features, expected, **CLOSE)
    torch.testing.assert_close(features[last_places(sizes)], torch.stack([one[0][-1] for one in alone]), **CLOSE)
    for row, (_, own) in enumerate(alone):
        for part, shown in model.activations(own).items():
            torch.testing.assert_close(model.activations(state)[part][row], shown[0], **CLOSE)
    chosen = torch.randn(len(ids), V, generator=torch.Generator().manual_seed(2))
    ours, theirs = (
        torch.autograd.grad((model.logits(one) * chosen).sum(), list(model.parameters()))
        for one in (features, expected)
    )
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, atol=2e-4, rtol=1e-4)


@every_model
def test_reading_on_is_like_reading_at_once(name: str) -> None:
    """Cached decoding equals full recomputation, with rows that are reordered and dropped in between."""
    model = network(name)
    rows = texts(LENGTHS)
    more = texts([4, 3, 2])
    _, state = model(*pack(rows), model.start(len(rows)))
    kept = [3, 0, 5]
    state = model.select(state, torch.tensor(kept))
    features, state = model(*pack(more), state)
    step = torch.tensor([1, 2, 3])
    after, _ = model(step, torch.tensor([3]), state)
    for i, row in enumerate(kept):
        whole = torch.cat([rows[row], more[i], step[i : i + 1]])
        expected, _ = model(whole, torch.ones(len(whole), dtype=torch.int64), model.start(1))
        places = [place for place, size in enumerate(pack(more)[1].tolist()) if size > i]
        begins = pack(more)[1].cumsum(0) - pack(more)[1]
        got = torch.stack([features[int(begins[place]) + i] for place in places] + [after[i]])
        torch.testing.assert_close(got, expected[len(rows[row]) :], **CLOSE)


@every_model
def test_a_step_at_a_time_is_like_all_at_once(name: str) -> None:
    model = network(name)
    (row,) = texts([12])
    features, _ = model(row, torch.ones(12, dtype=torch.int64), model.start(1))
    state, single = model.start(1), []
    for number in row:
        one, state = model(number[None], torch.tensor([1]), state)
        single.append(one[0])
    torch.testing.assert_close(torch.stack(single), features, **CLOSE)


@every_model
def test_gradients_reach_every_parameter(name: str) -> None:
    model = network(name).train()
    rows = texts([8, 8, 3])
    features, _ = model(*pack(rows), model.start(3))
    torch.autograd.backward(model.logits(features).logsumexp(-1).sum())
    for parameter_name, parameter in model.named_parameters():
        assert parameter.grad is not None, parameter_name
        assert parameter.grad.abs().sum() > 0 or parameter_name == "output_bias", parameter_name


@every_model
def test_seeds_and_matrices(name: str) -> None:
    first, again, other = network(name), network(name), network(name, 4)
    for (part, one), two, three in zip(first.named_parameters(), again.parameters(), other.parameters(), strict=True):
        assert torch.equal(one, two)
        assert not torch.equal(one, three) or "norm" in part or part.endswith("bias")
    known = {id(parameter) for parameter in first.parameters()}
    for matrix in first.matrices():
        assert id(matrix.parameter) in known
        assert matrix.parameter.dim() == 2
        assert matrix.parameter.shape[0] % matrix.blocks == 0
    assert len(first.matrices()) > 0
    assert first.flops_per_character() > 6 * sum(m.parameter.numel() for m in first.matrices()) / 4


@every_model
@pytest.mark.parametrize("size", ["small", "medium"])
def test_operations_are_as_many_as_pytorch_counts(name: str, size: str, tmp_path: Path) -> None:
    """What the cost of a grid is computed from; benchmarks/grids.py compares its seconds."""
    changes: dict[str, Any] = {"optimizer": "sgd", "kernel": "torch", "precision": "float32"}
    run = loop.new_run(hardware.resolve(make_config("laptop", size, model=name, task="addition", **changes)), tmp_path)
    batch = loop.make_feed(run.config, run.strategy).batch(0)
    with FlopCounterMode(display=False) as counter:
        loop.step(run, batch)
    counted = counter.get_total_flops() / len(batch.ids)
    assert run.model.flops_per_character() == pytest.approx(counted, rel=0.1)


@every_model
def test_answers_do_not_depend_on_the_batch(name: str) -> None:
    model = network(name)
    samples = [Sample(f"print({a}+{b})", str(a + b)) for a, b in ((1, 2), (345, 6), (99, 1), (12, 34567), (5, 5))]
    together = answer(Reader(model), samples)
    assert together == [answer(Reader(model), [sample])[0] for sample in samples]
    assert all(len(one.teacher_forced) == len(sample.target) + 1 for one, sample in zip(together, samples, strict=True))


@pytest.mark.parametrize("name", [name for name in MODELS if not model_class(name).carries_state])
def test_an_endless_stream_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ExeclabError, match=f"the model {name} reads whole samples, not an endless stream"):
        loop.train(config_of(name, feed="stream"), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_width_that_does_not_fit_the_heads() -> None:
    with pytest.raises(ExeclabError, match="cells is 20; for 4 heads it must be a multiple of 8"):
        config_of("transformer", cells=20)


@pytest.mark.parametrize("size", SIZES)
def test_models_of_a_size_have_about_as_many_parameters(size: str) -> None:
    counts = {name: loop.count_parameters(weights.sketch(make_config("laptop", size, model=name))) for name in MODELS}
    assert SIZES[size].keys() == MODELS.keys()
    assert max(counts.values()) < 1.15 * min(counts.values()), counts


@every_model
def test_laptop_gives_every_model_its_medium_size(name: str) -> None:
    assert make_config("laptop", model=name) == make_config("laptop", "medium", model=name)
    assert make_config("laptop", model=name, cells=32).model_options["cells"] == 32
