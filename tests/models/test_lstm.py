"""The network against a plain reference, written here from the paper's equations (section 5)."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from execlab.curriculum import make_strategy
from execlab.data.batches import Lesson, StreamFeed
from execlab.data.vocabulary import VOCABULARY
from execlab.models import native
from execlab.models.lstm import LSTM
from execlab.tasks import Difficulty
from execlab.tasks.program import ProgramTask
from execlab.training.config import PRESETS
from execlab.training.loop import count_parameters
from execlab.training.weights import make_model

V, LAYERS, CELLS, EMBEDDING = 41, 2, 12, 7


def lstm(cells: int = CELLS, seed: int = 3, **options: float) -> LSTM:
    made = LSTM.Options(layers=LAYERS, cells=cells, embedding=EMBEDDING)
    model = LSTM(V, replace(made, **options))  # type: ignore[arg-type]
    model.initialize(seed)
    return model


def reference(model: LSTM, ids: Tensor, h: list[Tensor], c: list[Tensor]) -> tuple[Tensor, list[Tensor], list[Tensor]]:
    """One character, one layer, one gate at a time."""
    h, c = list(h), list(c)
    logits = []
    for t in range(ids.shape[0]):
        below = torch.stack([model.embedding[int(i)] for i in ids[t]])
        for layer in range(LAYERS):
            inputs = torch.cat([below, h[layer]], dim=1)  # T_{2n,4n} of the two stacked
            weight = torch.cat([model.weight_ih[layer], model.weight_hh[layer]], dim=1)
            gates = inputs @ weight.T + model.bias[layer]
            n = CELLS
            i, f = torch.sigmoid(gates[:, :n]), torch.sigmoid(gates[:, n : 2 * n])
            g, o = torch.tanh(gates[:, 2 * n : 3 * n]), torch.sigmoid(gates[:, 3 * n :])
            c[layer] = f * c[layer] + i * g
            h[layer] = o * torch.tanh(c[layer])
            below = h[layer]
        logits.append(below @ model.output.T + model.output_bias)
    return torch.stack(logits), h, c


@pytest.mark.parametrize("learning", [True, False])
def test_equals_the_reference(learning: bool) -> None:
    """Outputs, the state carried over a window's end, and gradients, through both recurrences."""
    model = lstm(init=0.5).train(learning)
    rng = torch.Generator().manual_seed(1)
    windows = [torch.randint(0, V, (9, 4), generator=rng) for _ in range(2)]
    with torch.set_grad_enabled(learning):
        state = model.start(4)
        h, c = [torch.zeros(4, CELLS) for _ in range(LAYERS)], [torch.zeros(4, CELLS) for _ in range(LAYERS)]
        for ids in windows:
            features, state = model(ids.flatten(), torch.full((9,), 4), state)
            logits = model.logits(features).view(9, 4, V)
            expected, h, c = reference(model, ids, h, c)
            torch.testing.assert_close(logits, expected, atol=1e-5, rtol=1e-5)
            torch.testing.assert_close(state[0], torch.stack(h), atol=1e-5, rtol=1e-5)
            torch.testing.assert_close(state[1], torch.stack(c), atol=1e-5, rtol=1e-5)
        if not learning:
            return
        gradients = []
        for output, last in ((logits, state), (expected, (torch.stack(h), torch.stack(c)))):
            loss = torch.nn.functional.cross_entropy(output.flatten(0, 1), windows[1].flatten())
            loss = loss + sum((part * part).sum() for part in last)
            gradients.append(torch.autograd.grad(loss, list(model.parameters()), retain_graph=True))
        for ours, theirs in zip(*gradients, strict=True):
            torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)


def test_the_written_out_backward_passes_gradcheck() -> None:
    from execlab.models.recurrence import Recurrence

    rng = torch.Generator().manual_seed(0)
    for rows in ([2, 2, 2, 2], [3, 2, 2, 1]):
        shapes = [(sum(rows), 12), (12, 3), (rows[0], 3), (rows[0], 3)]
        inputs = [torch.randn(shape, generator=rng, dtype=torch.float64, requires_grad=True) for shape in shapes]
        assert torch.autograd.gradcheck(Recurrence.apply, (*inputs, torch.tensor(rows)))


@pytest.mark.parametrize("kernel", ["native", "torch", "elsewhere"])
def test_rows_that_end_are_as_if_each_were_read_alone(kernel: str) -> None:
    """h of every character, the state of every row after its last one, and gradients."""
    model = lstm(16, init=0.5)
    if kernel == "native":
        found = native.usable(16)
        if isinstance(found, str):
            pytest.skip(found)
        model.kernel = found
    rng = torch.Generator().manual_seed(1)
    lengths = [9, 9, 6, 5, 5, 1]
    texts = [torch.randint(0, V, (length,), generator=rng) for length in lengths]
    rows = torch.tensor([sum(length > t for length in lengths) for t in range(9)])
    ids = torch.stack([text[t] for t in range(9) for text in texts if len(text) > t])
    weights = torch.randn(len(ids), 16, generator=rng)
    model.train(kernel != "elsewhere")  # PyTorch's own recurrence, as on a GPU
    h, state = model(ids, rows, model.start(len(texts)))
    model.train()  # what is read alone goes through the one of recurrence.py
    alone = [model(text, torch.ones(len(text), dtype=torch.int64), model.start(1)) for text in texts]
    expected = torch.stack([alone[row][0][t] for t in range(9) for row in range(int(rows[t]))])
    torch.testing.assert_close(h, expected, atol=1e-5, rtol=1e-5)
    for part, last in enumerate(state):
        torch.testing.assert_close(last, torch.cat([one[1][part] for one in alone], dim=1), atol=1e-5, rtol=1e-5)
    learned = [parameter for name, parameter in model.named_parameters() if not name.startswith("output")]
    ours = torch.autograd.grad((h * weights).sum() + state[0].sum() + state[1].sum(), learned)
    ends = sum(part.sum() for one in alone for part in one[1])
    theirs = torch.autograd.grad((expected * weights).sum() + ends, learned)
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-4)


def test_the_papers_size() -> None:
    model = make_model(PRESETS["paper"])
    assert 2.5e6 < count_parameters(model) < 2.65e6
    model.initialize(0)
    for parameter in model.parameters():
        assert parameter.abs().max() <= 0.08
    flat = torch.cat([parameter.flatten() for parameter in model.parameters()])
    assert flat.std().item() == pytest.approx(0.08 / math.sqrt(3), rel=0.01)


def test_forget_bias_and_seeds() -> None:
    model = lstm(seed=1, init=0.01, forget_bias=1.0)
    for bias in model.bias:
        assert bias[CELLS : 2 * CELLS].min() > 0.9
        assert bias[:CELLS].max() < 0.1
    other = lstm(seed=2, init=0.01, forget_bias=1.0)
    assert not torch.equal(model.embedding, other.embedding)


def test_chrono_spreads_the_memories() -> None:
    """Forget gates near 1 - 1/t for t from 1 to 30 characters, input gates the rest to 1."""
    model = lstm(200, seed=1, init=0.01, chrono=31.0)
    for bias in model.bias:
        i, f = bias[:200], bias[200:400]
        assert torch.equal(i, -f)
        lasting = 1 / (1 - torch.sigmoid(f))  # characters until a memory has faded
        assert 2 <= lasting.min() < 4
        assert 28 < lasting.max() <= 31
        assert 13 < lasting.median() < 19
        assert bias[400:].abs().max() <= 0.01
    model = lstm(200, seed=1, init=0.01, chrono=0.5)  # too short to spread: all alike
    assert model.bias[0][200:400].abs().max() == 0


def test_the_first_loss_is_that_of_knowing_nothing() -> None:
    model = make_model(PRESETS["paper"])
    model.initialize(0)
    feed = StreamFeed(Lesson(ProgramTask(), make_strategy("mix", Difficulty(4, 2)), "mix"), 100, 50, 100)
    batch = feed.batch(0)
    targets = torch.from_numpy(batch.targets)
    h, _ = model(torch.from_numpy(batch.ids), torch.from_numpy(batch.batch_sizes), model.start(100))
    logits = model.logits(h)
    loss = torch.nn.functional.cross_entropy(logits[targets >= 0], targets[targets >= 0])
    assert loss.item() == pytest.approx(math.log(len(VOCABULARY)), abs=0.1)
