"""The recurrence in C against the one in PyTorch."""

from __future__ import annotations

import gc
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import torch
from torch import Tensor

from execlab.errors import ExeclabError
from execlab.models import native
from execlab.models.lstm import LSTM
from execlab.models.recurrence import recur, recur_in_c
from execlab.training import hardware, loop, runs, weights
from execlab.training.config import make_config
from execlab.training.metrics import read_metrics
from execlab.training.view import View

if TYPE_CHECKING:
    from execlab.models.model import Precision


@pytest.fixture
def compiled() -> native.Native:
    found = native.load()
    if not isinstance(found, native.Native):
        pytest.skip(found)
    return found


def rows_of(steps: int, rows: int) -> Tensor:
    return torch.full((steps,), rows)


def both_ways(
    shape: tuple[int, int, int],
    scale: float,
    compiled: native.Native | None,
    *,
    half: bool = False,
    ending: bool = True,
) -> tuple[list[Tensor], list[Tensor]]:
    """Outputs and gradients of a recurrence; half of its rows drop out on the way, if any shall."""
    steps, rows, n = shape
    rng = torch.Generator().manual_seed(steps * rows + n)
    left = (
        torch.tensor([max(rows - t * rows // (2 * steps), 1) for t in range(steps)]) if ending else rows_of(steps, rows)
    )
    shapes = [(int(left.sum()), 4 * n), (4 * n, n), (rows, n), (rows, n)]
    inputs = [
        torch.randn(size, generator=rng) * factor for size, factor in zip(shapes, (scale, 0.2, 0.5, scale), strict=True)
    ]
    for tensor in inputs:
        tensor.requires_grad_()
    projected, weight, h, c = inputs
    if compiled is None:
        outputs = recur(projected, weight, h, c, left)
    else:  # every row of the table is chosen once
        chosen = torch.randperm(len(projected), generator=torch.Generator().manual_seed(1))
        table = torch.zeros_like(projected).index_copy(0, chosen, projected)
        state = h[None], c[None]
        top, last_h, last_c = recur_in_c(chosen, left, table, state, compiled, [weight], half=half)
        outputs = top.float(), last_h[0], last_c[0]
    loss = sum((output * torch.randn(output.shape, generator=rng)).sum() for output in outputs)
    return list(outputs), list(torch.autograd.grad(loss, inputs))  # type: ignore[arg-type]


@pytest.mark.parametrize("shape", [(1, 1, 16), (5, 3, 16), (7, 13, 48), (9, 8, 80), (4, 25, 112), (6, 32, 128)])
@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("ending", [True, False])
def test_equals_pytorch(compiled: native.Native, shape: tuple[int, int, int], scale: float, ending: bool) -> None:
    """Every remainder of rows and columns; gates from hardly open to shut."""
    found = (both_ways(shape, scale, kernel, ending=ending) for kernel in (compiled, None))
    for ours, theirs in zip(*found, strict=True):
        for one, other in zip(ours, theirs, strict=True):
            torch.testing.assert_close(one, other, atol=1e-5 * max(scale, 1), rtol=1e-4)


@pytest.mark.parametrize("shape", [(1, 1, 16), (7, 13, 48), (6, 32, 128)])
def test_matmuls_in_bfloat16(compiled: native.Native, shape: tuple[int, int, int]) -> None:
    """As near to float32 as eight bits allow, and not nearer: what is multiplied is really rounded."""
    for ours, theirs in zip(both_ways(shape, 1.0, compiled, half=True), both_ways(shape, 1.0, None), strict=True):
        for one, other in zip(ours, theirs, strict=True):
            gap = ((one - other).norm() / other.norm()).item()
            assert 1e-4 < gap < 0.02


def test_cells_and_gradients_stay_in_float32(compiled: native.Native) -> None:
    model, ids, sizes = deep(compiled, "bfloat16"), *texts(5, 6)
    h, (last_h, last_c) = model(ids, sizes, model.start(6))
    assert (h.dtype, last_h.dtype, last_c.dtype) == (torch.bfloat16, torch.float32, torch.float32)
    assert not torch.equal(last_c, last_c.bfloat16().float())
    gradients = torch.autograd.grad(h.float().square().sum(), learned(model))
    assert all(gradient.dtype == torch.float32 for gradient in gradients)


def test_a_state_carried_over_from_pytorch_in_bfloat16(compiled: native.Native) -> None:
    """A run may have been resumed where there was no compiler."""
    table, weight, state = torch.randn(12, 64), torch.randn(64, 16), torch.randn(1, 3, 16).bfloat16()
    results = [
        recur_in_c(torch.arange(12), rows_of(4, 3), table, (given, given), compiled, [weight], half=True)
        for given in (state, state.float())
    ]
    assert all(torch.equal(one, other) for one, other in zip(*results, strict=True))


def deep(kernel: native.Native | None, precision: Precision = "float32", cells: int = 32, layers: int = 3) -> LSTM:
    """A network in training mode."""
    model = LSTM(41, LSTM.Options(layers=layers, cells=cells, embedding=8, init=0.3), kernel, precision)
    model.initialize(0)
    return model.train()


def texts(steps: int, rows: int) -> tuple[Tensor, Tensor]:
    """Ids of rows of one length, and their batch sizes."""
    return torch.randint(0, 41, (steps * rows,), generator=torch.Generator().manual_seed(0)), rows_of(steps, rows)


def learned(model: LSTM) -> list[torch.nn.Parameter]:
    """The parameters below the features."""
    return [parameter for name, parameter in model.named_parameters() if not name.startswith("output")]


def deep_ways(kernel: native.Native | None, precision: Precision, cells: int, rows: list[int]) -> list[Tensor]:
    """Outputs and gradients of three layers, of a state that is not zero."""
    model, rng = deep(kernel, precision, cells), torch.Generator().manual_seed(sum(rows))
    ids = torch.randint(0, 41, (sum(rows),), generator=rng)
    state = [torch.randn(3, rows[0], cells, generator=rng, requires_grad=True) for _ in range(2)]
    h, last = model(ids, torch.tensor(rows), tuple(state))
    outputs = [h.float(), *last]
    loss = sum((output * torch.randn(output.shape, generator=rng)).sum() for output in outputs)
    return [*outputs, *torch.autograd.grad(loss, [*learned(model), *state])]


LONG = [[1], [13, 13, 12, 12, 9, 5, 2, 1], [30] * 27, [32] * 20 + [31, 20, 20, 8, 3], [70] * 12 + [9] * 3]


@pytest.mark.parametrize("rows", LONG)
@pytest.mark.parametrize("cells", [16, 80])
def test_layers_upon_layers(compiled: native.Native, rows: list[int], cells: int) -> None:
    """Odd numbers of characters, more than one chunk of them, every remainder of columns; in both precisions."""
    expected = deep_ways(None, "float32", cells, rows)
    for ours, theirs in zip(deep_ways(compiled, "float32", cells, rows), expected, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-3, rtol=1e-4)
    for ours, theirs in zip(deep_ways(compiled, "bfloat16", cells, rows), expected, strict=True):
        assert 0 < ((ours - theirs).norm() / theirs.norm()).item() < 0.04


def test_tensors_of_any_layout(compiled: native.Native) -> None:
    """What PyTorch hands on need not lie in one piece."""
    model = deep(compiled, "bfloat16", 16, 2)
    ids = torch.randint(0, 41, (9, 5), generator=torch.Generator().manual_seed(0))
    sizes = torch.ones(9, dtype=torch.int64)
    spread, _ = model(ids[:, 0], sizes, model.start(1))
    compact, _ = model(ids[:, 0].contiguous(), sizes, model.start(1))
    narrow, _ = model(ids[:, 0].int(), sizes, model.start(1))
    assert torch.equal(spread, compact)
    assert torch.equal(narrow, compact)
    with pytest.raises(IndexError, match="not among the 41"):
        model(torch.tensor([41]), sizes[:1], model.start(1))
    whole = torch.autograd.grad(spread.float().sum(), learned(model))  # its gradient is one number, expanded
    each = torch.autograd.grad((compact.float() * torch.ones(9, 16)).sum(), learned(model))
    assert all(torch.equal(one, other) for one, other in zip(whole, each, strict=True))


def test_a_model_learns_in_bfloat16(compiled: native.Native) -> None:
    """All parameters get gradients near those of float32."""
    ids = torch.randint(0, 41, (9, 5), generator=torch.Generator().manual_seed(0))
    gradients = []
    precisions: tuple[Precision, ...] = ("float32", "bfloat16")
    for precision in precisions:
        model = LSTM(41, LSTM.Options(layers=2, cells=32, embedding=8, init=0.3), compiled, precision)
        model.initialize(0)
        features, _ = model(ids.flatten(), torch.full((9,), 5), model.start(5))
        loss = torch.nn.functional.cross_entropy(model.logits(features).float(), ids.flatten())
        gradients.append(torch.autograd.grad(loss, list(model.parameters())))
    for full, halved in zip(*gradients, strict=True):
        assert 0 < ((full - halved).norm() / full.norm()).item() < 0.05


@pytest.mark.parametrize("half", [False, True])
def test_extreme_values_stay_finite(compiled: native.Native, half: bool) -> None:
    for value in (1e4, -1e4, 3e38, -3e38):
        table, state = torch.full((1, 64), value), (torch.zeros(1, 3, 16), torch.ones(1, 3, 16))
        ids = torch.zeros(6, dtype=torch.int64)
        outputs = recur_in_c(ids, rows_of(2, 3), table, state, compiled, [torch.zeros(64, 16)], half=half)
        assert all(torch.isfinite(output).all() for output in outputs)


def test_every_nan_is_rounded_to_one(compiled: native.Native) -> None:
    """The largest ones would otherwise be rounded up to zero."""
    bits = torch.tensor([0x7FFFFFFF, -1, 0x7F800001, 0x7FC00000, -0x400000], dtype=torch.int32)
    state = torch.zeros(1, 1, 16), bits.view(torch.float32).repeat(4)[:16][None, None]
    ids, table, weight = torch.zeros(1, dtype=torch.int64), torch.zeros(1, 64), torch.zeros(64, 16)
    h, _, c = recur_in_c(ids, rows_of(1, 1), table, state, compiled, [weight], half=True)
    assert torch.isnan(c).all()
    assert torch.isnan(h).all()


@pytest.mark.parametrize("half", [False, True])
def test_nan_is_not_hidden(compiled: native.Native, half: bool) -> None:
    """A loss that has become NaN must be seen as such."""
    table, weight, state = torch.zeros(6, 64), torch.zeros(64, 16), torch.zeros(1, 3, 16)
    table[5, 5] = float("nan")
    h, _, _ = recur_in_c(torch.arange(6), rows_of(2, 3), table, (state, state), compiled, [weight], half=half)
    assert torch.isnan(h[5, 5])
    assert torch.isfinite(h[:5]).all()


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize("rows", LONG)
def test_the_same_bits_with_any_number_of_threads(
    compiled: native.Native, precision: Precision, rows: list[int]
) -> None:
    first, *others = (deep_ways(replace(compiled, threads=n), precision, 48, rows) for n in (1, 2, 3, 7))
    for other in others:
        assert all(torch.equal(one, two) for one, two in zip(first, other, strict=True))


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_a_step_leaves_nothing_behind(compiled: native.Native, precision: Precision) -> None:
    """A cycle would keep a step's memory until garbage is collected, and the next step would need more."""
    counts = []
    gc.collect()
    gc.disable()
    try:
        for _ in range(3):
            deep_ways(compiled, precision, 16, LONG[1])
            counts.append(sum(type(thing) is Tensor for thing in gc.get_objects()))
    finally:
        gc.enable()
    assert counts[1] == counts[2]


def test_a_fork_has_threads_of_its_own(compiled: native.Native) -> None:
    """The threads of a pool do not survive a fork; the child starts others."""
    shared = replace(compiled, threads=3)
    expected = [grad.double().sum().item() for grad in deep_ways(shared, "float32", 16, LONG[1])]
    code = f"""
import os, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import torch
torch.set_num_threads(1)
from dataclasses import replace
from execlab.models import native
from test_native import LONG, deep_ways
shared = replace(native.load(), threads=3)
for turn in range(2):
    sums = [grad.double().sum().item() for grad in deep_ways(shared, "float32", 16, LONG[1])]
    if not turn:
        child = os.fork()
if child:
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
print(*sums)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=600)
    assert [[float(word) for word in line.split()] for line in done.stdout.splitlines()] == [expected, expected]


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("feed", ["aligned", "stream"])
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_a_run_has_the_same_bits_with_any_number_of_threads(feed: str, precision: Precision, tmp_path: Path) -> None:
    """Drawing ahead included, which one thread does not do; the strategy climbs on the way."""
    settings: dict[str, object] = {"feed": feed, "precision": precision, "strategy": "combined"}
    if feed == "stream":
        settings |= {"window": 20}
    learned_weights, lines = [], []
    for threads in (1, 3):
        config = make_config("smoke", None, optimizer="muon", threads=threads, steps=40, **settings)
        folder = loop.train(config, tmp_path / str(threads))
        learned_weights.append(weights.load_model(folder / "model.safetensors")[0].state_dict())
        lines.append([replace(line, seconds=0.0) for line in read_metrics(folder)])
    assert all(torch.equal(*pair) for pair in zip(*(each.values() for each in learned_weights), strict=True))
    assert lines[0] == lines[1]


def test_a_chore_that_fails_is_heard_of(compiled: native.Native) -> None:
    """Once the pass is whole; the next one has nothing to do meanwhile."""
    kernel = replace(compiled, threads=2, chores=[lambda: [][0]])
    with pytest.raises(IndexError):
        deep_ways(kernel, "float32", 16, LONG[1])
    expected = deep_ways(compiled, "float32", 16, LONG[1])
    assert all(torch.equal(*pair) for pair in zip(deep_ways(kernel, "float32", 16, LONG[1]), expected, strict=True))


def test_auto_is_decided_once(compiled: native.Native) -> None:
    assert hardware.resolve(make_config("laptop", device="cpu")).kernel == "native"
    assert hardware.resolve(make_config("laptop", device="cpu", kernel="torch")).kernel == "torch"
    odd = make_config("laptop", device="cpu", cells=compiled.width + 1)
    assert hardware.resolve(odd).kernel == "torch"
    with pytest.raises(ExeclabError, match="not a multiple of"):
        hardware.resolve(make_config("laptop", device="cpu", cells=compiled.width + 1, kernel="native"))


def test_precision_is_what_the_processor_does_well(compiled: native.Native, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the recurrence is compiled, what it was compiled to counts: a compiler may be older than the processor."""
    for has, precision in ((True, "bfloat16"), (False, "float32")):
        monkeypatch.setattr(native, "load", lambda has=has: replace(compiled, halves=has))
        monkeypatch.setattr(hardware, "multiplies_bfloat16", lambda has=has: not has)
        assert hardware.resolve(make_config("laptop", device="cpu")).precision == precision
        monkeypatch.setattr(hardware, "multiplies_bfloat16", lambda has=has: has)
        assert hardware.resolve(make_config("laptop", device="cpu", kernel="torch")).precision == precision
        assert hardware.resolve(make_config("laptop", device="cpu", precision="float32")).precision == "float32"


def test_a_run_goes_on_where_there_is_no_compiler(
    compiled: native.Native, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In PyTorch, and it says that the bits may differ."""
    folder = loop.train(make_config("smoke", steps=10), tmp_path / "run")
    assert runs.read_about(folder).versions["kernel"].startswith(compiled.name)
    (folder / "report.json").unlink()
    monkeypatch.setenv("CC", "no-such-compiler")
    native.load.cache_clear()
    said: list[str] = []

    class Ear(View):
        def say(self, sentence: str) -> None:
            said.append(sentence)

    try:
        loop.resume(folder, view=Ear())
    finally:
        native.load.cache_clear()
    assert any("the bits may differ" in sentence for sentence in said)
    assert (folder / "report.json").exists()


@pytest.mark.parametrize("compiler", ["no-such-compiler", "false"])
def test_without_a_compiler(compiler: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", compiler)
    native.load.cache_clear()
    try:
        assert compiler in str(native.load())
        assert hardware.resolve(make_config("laptop", device="cpu")).kernel == "torch"
        with pytest.raises(ExeclabError, match=f"kernel=native .*{compiler}"):
            hardware.resolve(make_config("laptop", device="cpu", kernel="native"))
    finally:
        native.load.cache_clear()


def test_compiles_into_the_users_cache_or_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if isinstance(native.load(), str):
        pytest.skip(str(native.load()))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "file").write_text("")
    for home in (tmp_path / "cache", tmp_path / "file"):
        monkeypatch.setenv("XDG_CACHE_HOME", str(home))
        native.load.cache_clear()
        try:
            assert isinstance(native.load(), native.Native)
        finally:
            native.load.cache_clear()
    (kept,) = (tmp_path / "cache" / "execlab").iterdir()
    assert kept.suffix == ".so"
