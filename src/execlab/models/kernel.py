"""The compiled kernels (kernels/) as Python calls them; native.py makes and loads them."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from torch import Tensor

INTEGER = ctypes.c_int64
POINTER = ctypes.c_void_p
CALLBACK = ctypes.CFUNCTYPE(None)
# The struct of kernels/lstm.h.
LAYER = (
    *("weight_ih", "weight_hh", "bias", "h0", "c0", "h", "gates", "c", "squashed", "last_h", "last_c"),
    *("panels_ih", "panels_hh", "above", "dh", "dc", "change", "before", "below", "d_ih", "d_hh", "d_below"),
)


@dataclass(frozen=True)
class Native:
    """The compiled kernels, and how many threads share their work."""

    library: ctypes.CDLL
    width: int  # the number of cells must be a multiple of it
    halves: bool  # whether matmuls in bfloat16 are the processor's own
    name: str  # compiler, vector width and flags, for a run's record
    threads: int = 1
    # What the calling thread does once, while the others begin with a forward pass: Python that holds up nobody.
    chores: list[Callable[[], None]] = field(default_factory=list, compare=False)

    def lstm(
        self,
        direction: str,
        sizes: Sequence[int],
        arrays: Sequence[Tensor],
        layers: Sequence[Mapping[str, Tensor]],
    ) -> None:
        """A deep LSTM "forward" or "backward"; sizes, arrays and layers are described in kernels/lstm.h."""
        fields = [layer.get(name) for layer in layers for name in LAYER]
        arguments = [INTEGER(self.threads), _integers(sizes), _pointers(arrays), _pointers(fields)]
        if direction == "backward":
            self.library.execlab_backward(*arguments)
            return
        failures: list[BaseException] = []

        def meanwhile() -> None:
            try:
                self.chores.pop()()
            except BaseException as error:  # raised below: nothing may pass through C
                failures.append(error)

        callback = CALLBACK(meanwhile) if self.chores else None
        self.library.execlab_forward(*arguments, callback)
        if failures:
            raise failures[0]

    def clip(self, tensors: Sequence[Tensor], limit: float) -> float:
        """Scale tensors down to a common norm if theirs is larger; gives what it was."""
        sizes = _integers([tensor.numel() for tensor in tensors])
        norm = self.library.execlab_clip(
            INTEGER(self.threads), INTEGER(len(tensors)), _pointers(tensors), sizes, ctypes.c_double(limit)
        )
        return float(norm)

    def update(
        self,
        matrices: Sequence[tuple[int, Tensor, Tensor, Tensor]],
        others: Sequence[tuple[Tensor, Tensor, Tensor, Tensor]],
        numbers: Sequence[float],
        iterations: int,
        *,
        half: bool,
    ) -> None:
        """A step of Muon (blocks, parameter, gradient, momentum) and AdamW (parameter, gradient, mean, square);
        numbers are described in kernels/optimizer.h."""
        tensors = [tensor for _, *each in matrices for tensor in each] + [tensor for each in others for tensor in each]
        sizes = [size for blocks, each, *_ in matrices for size in (blocks, each.shape[0] // blocks, each.shape[1])]
        sizes += [each[0].numel() for each in others]
        counts = (self.threads, int(half), iterations, len(matrices), len(others))
        floats = (ctypes.c_float * len(numbers))(*numbers)
        self.library.execlab_update(*map(INTEGER, counts), _pointers(tensors), _integers(sizes), floats)


def _integers(values: Sequence[int]) -> ctypes.Array[ctypes.c_int64]:
    return (INTEGER * len(values))(*values)


def _pointers(tensors: Sequence[Tensor | None]) -> ctypes.Array[ctypes.c_void_p]:
    return (POINTER * len(tensors))(*(None if tensor is None else tensor.data_ptr() for tensor in tensors))
