"""The recurrence in C against the one in PyTorch."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import torch

from execlab.errors import ExeclabError
from execlab.models import native
from execlab.models.lstm import LSTM
from execlab.models.recurrence import half_linear, half_recur, recur
from execlab.training import hardware, loop, runs
from execlab.training.config import make_config
from execlab.training.view import View

if TYPE_CHECKING:
    from pathlib import Path

    from torch import Tensor

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
    half: str = "",
    ending: bool = True,
) -> tuple[list[Tensor], list[Tensor]]:
    """Outputs and gradients of a recurrence; half of its rows drop out on the way, if any shall.

    With products in bfloat16, what comes from below is a "table" whose rows are chosen, or "rows" and a bias.
    """
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
    if compiled is None or not half:
        outputs = recur(projected, weight, h, c, left, compiled)
    elif half == "table":  # every row is chosen once
        chosen = torch.randperm(len(projected), generator=torch.Generator().manual_seed(1))
        table = torch.zeros_like(projected).index_copy(0, chosen, projected)
        outputs = half_recur(table, chosen, None, weight, h, c, left, compiled)
    else:
        bias = projected.mean(0)
        outputs = half_recur((projected - bias).bfloat16(), None, bias, weight, h, c, left, compiled)
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
@pytest.mark.parametrize("half", ["table", "rows"])
def test_products_in_bfloat16(compiled: native.Native, shape: tuple[int, int, int], half: str) -> None:
    """As near to float32 as eight bits allow, and not nearer: the products are really rounded."""
    for ours, theirs in zip(both_ways(shape, 1.0, compiled, half=half), both_ways(shape, 1.0, None), strict=True):
        for one, other in zip(ours, theirs, strict=True):
            gap = ((one - other).norm() / other.norm()).item()
            assert 1e-4 < gap < 0.02


def test_cells_and_gradients_stay_in_float32(compiled: native.Native) -> None:
    (h, last_h, last_c), gradients = both_ways((5, 6, 32), 1.0, compiled, half="rows")
    assert (h.dtype, last_h.dtype, last_c.dtype) == (torch.bfloat16, torch.float32, torch.float32)
    assert not torch.equal(last_c, last_c.bfloat16().float())
    assert all(gradient.dtype == torch.float32 for gradient in gradients)


def test_a_state_carried_over_from_pytorch_in_bfloat16(compiled: native.Native) -> None:
    """A run may have been resumed where there was no compiler."""
    below, weight, state = torch.randn(12, 64).bfloat16(), torch.randn(64, 16), torch.randn(3, 16).bfloat16()
    found = [
        half_recur(below, None, torch.zeros(64), weight, given, given, rows_of(4, 3), compiled)
        for given in (state, state.float())
    ]
    assert all(torch.equal(one, other) for one, other in zip(*found, strict=True))


def test_tensors_of_any_layout(compiled: native.Native) -> None:
    """What PyTorch hands on need not lie in one piece."""
    model = LSTM(41, LSTM.Options(layers=2, cells=16, embedding=8, init=0.3), compiled, "bfloat16")
    model.initialize(0)
    ids = torch.randint(0, 41, (9, 5), generator=torch.Generator().manual_seed(0))
    sizes = torch.ones(9, dtype=torch.int64)
    spread, _ = model(ids[:, 0], sizes, model.start(1))
    compact, _ = model(ids[:, 0].contiguous(), sizes, model.start(1))
    narrow, _ = model(ids[:, 0].int(), sizes, model.start(1))
    assert torch.equal(spread, compact)
    assert torch.equal(narrow, compact)
    with pytest.raises(IndexError, match="not among the 41"):
        model(torch.tensor([41]), sizes[:1], model.start(1))
    weight = torch.randn(32, 16, requires_grad=True)
    summed = half_linear(torch.ones(6, 16).bfloat16(), weight, compiled).sum()  # its gradient is one number, expanded
    torch.testing.assert_close(torch.autograd.grad(summed, [weight])[0], torch.full((32, 16), 6.0))


@pytest.mark.parametrize("count", [0, 1, 2, 7, 767, 768, 769, 1901])
@pytest.mark.parametrize("n", [16, 48, 80, 128])
def test_weight_gradients_in_bfloat16_are_summed_in_float32(compiled: native.Native, count: int, n: int) -> None:
    """Odd numbers of rows, more than fit into the cache, and every remainder of columns."""
    rng = torch.Generator().manual_seed(count + n)
    a, b = (torch.randn(count, columns, generator=rng).bfloat16() for columns in (4 * n, n))
    exact = a.double().t() @ b.double()
    torch.testing.assert_close(compiled.half_outer(a, b).double(), exact, atol=1e-3, rtol=1e-5)


def test_rows_are_summed_where_they_belong(compiled: native.Native) -> None:
    rng = torch.Generator().manual_seed(0)
    a, ids = torch.randn(501, 64, generator=rng).bfloat16(), torch.randint(0, 41, (501,), generator=rng)
    expected = torch.zeros(41, 64).index_add_(0, ids, a.float())
    torch.testing.assert_close(compiled.half_gather(a, ids, 41), expected)
    torch.testing.assert_close(compiled.half_gather(a, None, 1)[0], a.float().sum(0), atol=1e-4, rtol=1e-5)


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


def test_extreme_values_stay_finite(compiled: native.Native) -> None:
    for value in (1e4, -1e4, 3e38, -3e38):
        states = torch.zeros(3, 16), torch.ones(3, 16)
        outputs = recur(torch.full((6, 64), value), torch.zeros(64, 16), *states, rows_of(2, 3), compiled)
        assert all(torch.isfinite(output).all() for output in outputs)


def test_extreme_values_stay_finite_in_bfloat16(compiled: native.Native) -> None:
    for value in (1e4, -1e4, 3e38, -3e38):
        below, states = torch.full((6, 64), value).bfloat16(), (torch.zeros(3, 16), torch.ones(3, 16))
        outputs = half_recur(below, None, torch.zeros(64), torch.zeros(64, 16), *states, rows_of(2, 3), compiled)
        assert all(torch.isfinite(output).all() for output in outputs)


def test_every_nan_is_rounded_to_one(compiled: native.Native) -> None:
    """The largest ones would otherwise be rounded up to zero."""
    bits = torch.tensor([0x7FFFFFFF, -1, 0x7F800001, 0x7FC00000, -0x400000], dtype=torch.int32)
    states = torch.zeros(1, 16), bits.view(torch.float32).repeat(4)[:16][None]
    below, weight = torch.zeros(1, 64).bfloat16(), torch.zeros(64, 16)
    h, _, c = half_recur(below, None, torch.zeros(64), weight, *states, rows_of(1, 1), compiled)
    assert torch.isnan(c).all()
    assert torch.isnan(h).all()


@pytest.mark.parametrize("half", [False, True])
def test_nan_is_not_hidden(compiled: native.Native, half: bool) -> None:
    """A loss that has become NaN must be seen as such."""
    projected, weight, state = torch.zeros(6, 64), torch.zeros(64, 16), torch.zeros(3, 16)
    projected[5, 5] = float("nan")
    if half:
        h, _, _ = half_recur(projected.bfloat16(), None, torch.zeros(64), weight, state, state, rows_of(2, 3), compiled)
    else:
        h, _, _ = recur(projected, weight, state, state, rows_of(2, 3), compiled)
    assert torch.isnan(h[5, 5])
    assert torch.isfinite(h[:5]).all()


@pytest.mark.parametrize("half", ["", "table", "rows"])
def test_the_same_bits_with_any_number_of_threads(compiled: native.Native, half: str) -> None:
    before = torch.get_num_threads()
    try:
        found = []
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            outputs, (of_below, of_weight, *of_state) = both_ways((6, 29, 64), 1.0, compiled, half=half)
            found.append([*outputs, of_below, *of_state, *([of_weight] if half else [])])  # otherwise it is PyTorch's
    finally:
        torch.set_num_threads(before)
    for other in found[1:]:
        assert all(torch.equal(one, two) for one, two in zip(found[0], other, strict=True))


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
