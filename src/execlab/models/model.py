"""The contract of a network: it reads characters, row by row, and says what comes next.

Characters come packed, as in PyTorch's PackedSequence: the first characters of all rows, then the second ones, and so
on, with `batch_sizes[t]` rows that have a character t. Rows are ordered by length, longest first, and nothing is
padded. What a row has read so far is its state; only the model looks inside.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from execlab.models.kernel import Native

State = Any
Precision = Literal["float32", "bfloat16"]


class Matrix(NamedTuple):
    """A parameter that Muon orthogonalises: so many matrices of one shape, one above the other."""

    parameter: nn.Parameter
    blocks: int = 1


class Model(nn.Module):
    """A network; `MODELS` lists the built-in ones. Its options are a frozen dataclass, `Options`."""

    Options: ClassVar[type]
    carries_state: ClassVar[bool]  # whether it may read an endless stream, state by state

    def __init__(
        self,
        vocabulary: int,
        options: Any,
        kernel: Native | None = None,
        precision: Precision = "float32",
    ) -> None:
        super().__init__()
        self.vocabulary, self.options, self.kernel, self.precision = vocabulary, options, kernel, precision

    @staticmethod
    def find_kernel(options: Any) -> Native | str:
        """The compiled kernel for learning with these options, or the reason why there is none."""
        del options
        return "this model has none"

    def initialize(self, seed: int) -> None:
        """Set every parameter; the same seed gives the same bits. By default as in the paper: uniform, at most 0.08."""
        rng = torch.Generator().manual_seed(seed)
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -0.08, 0.08, generator=rng)

    @abstractmethod
    def start(self, rows: int) -> State:
        """The state of rows that have read nothing."""

    @abstractmethod
    def forward(self, ids: Tensor, batch_sizes: Tensor, state: State) -> tuple[Tensor, State]:
        """Read packed characters `ids` (N,): features (N, n), and every row's state after its last character."""

    @abstractmethod
    def logits(self, features: Tensor) -> Tensor:
        """What features (N, n) say about the next character: (N, V)."""

    @abstractmethod
    def select(self, state: State, rows: Tensor) -> State:
        """The state of these rows, in this order; a row may be taken several times."""

    @abstractmethod
    def activations(self, state: State) -> dict[str, Tensor]:
        """What a page or a probe may look at, by name: (rows, layers, units) each."""

    def matrices(self) -> Sequence[Matrix]:
        """The parameters that Muon orthogonalises; all others go through AdamW."""
        return ()

    def flops_per_character(self) -> float:
        """Floating-point operations of learning from one character, in matmuls.

        By default every matrix is applied once: 2 operations per weight forward and 4 backward.
        """
        looked_up = {id(each.weight) for each in self.modules() if isinstance(each, nn.Embedding)}
        return 6.0 * sum(p.numel() for p in self.parameters() if p.dim() == 2 and id(p) not in looked_up)

    def pack_state(self, state: State) -> dict[str, Tensor]:
        """A state as tensors with the rows first, for a checkpoint; asked only of models that carry it."""
        if not isinstance(state, Tensor):
            raise NotImplementedError(f"{type(self).__name__} has a state that is not one tensor, and no pack_state")
        return {"state": state}

    def unpack_state(self, tensors: Mapping[str, Tensor]) -> State:
        """The state that `pack_state` packed."""
        return tensors["state"]


def last_places(batch_sizes: Tensor) -> Tensor:
    """Where each row's last character is among packed ones: (rows,).

    >>> import torch
    >>> last_places(torch.tensor([3, 2, 2])).tolist()
    [5, 6, 2]
    """
    rows = int(batch_sizes[0])
    begins = batch_sizes.cumsum(0) - batch_sizes
    numbers = batch_sizes.new_tensor(range(rows))
    lengths = (batch_sizes[:, None] > numbers).sum(0)
    return begins[lengths - 1] + numbers
