"""One run over several processes or machines: `torchrun --nproc-per-node 2 -m execlab train ...`.

Every rank draws the whole batch, which is cheap, and learns from its own rows of it; gradients are summed, so all ranks
take the same step. The loss is divided by what the whole batch counts, so two ranks with half the rows each do what one
process does, up to the order of sums. The first rank alone evaluates, writes and prints. PyTorch's wrapper for data
parallelism is not used: it averages over ranks, which is wrong where rows count differently.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
import torch.distributed as dist

from execlab.errors import ExeclabError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from execlab.data.batches import Batch


@dataclass(frozen=True)
class Ranks:
    """Which of how many processes this is; alone by default."""

    rank: int = 0
    size: int = 1

    @property
    def leads(self) -> bool:
        """Whether this process evaluates, writes and prints."""
        return self.rank == 0

    def rows(self, batch: int) -> int:
        """How many rows of a batch are this rank's."""
        return len(range(self.rank, batch, self.size))

    def share(self, batch: Batch) -> Batch:
        """This rank's rows of a batch."""
        if self.size == 1:
            return batch
        row = np.concatenate([np.arange(count) for count in batch.batch_sizes])  # of each character
        mine = row % self.size == self.rank
        rows = np.array([self.rows(count) for count in batch.batch_sizes], np.int64)
        return batch._replace(
            ids=batch.ids[mine],
            targets=batch.targets[mine],
            groups=batch.groups[mine],
            batch_sizes=rows[rows > 0],
        )

    def add_gradients(self, parameters: Sequence[Tensor]) -> None:
        """The sum over all ranks in place of each rank's own."""
        if self.size == 1:
            return
        grads = [p.grad if p.grad is not None else torch.zeros_like(p) for p in parameters]
        flat = torch.cat([grad.reshape(-1) for grad in grads])
        dist.all_reduce(flat)
        totals = torch.split(flat, [grad.numel() for grad in grads])
        for parameter, total in zip(parameters, totals, strict=True):
            parameter.grad = total.view_as(parameter)

    def add(self, *numbers: float) -> tuple[float, ...]:
        """The sums of some numbers over all ranks."""
        if self.size == 1:
            return numbers
        together = torch.tensor(numbers, dtype=torch.float64, device=_device())
        dist.all_reduce(together)
        return tuple(together.tolist())

    def broadcast(self, *numbers: float) -> tuple[float, ...]:
        """The first rank's numbers, on every rank."""
        return self.add(*(number if self.leads else 0.0 for number in numbers))

    def gather(self, part: Tensor) -> Tensor:
        """The rows (dimension 0) of all ranks as one batch."""
        if self.size == 1:
            return part
        widest = torch.tensor(part.shape[0], device=_device())
        dist.all_reduce(widest, op=dist.ReduceOp.MAX)
        rows = int(widest)
        padded = part.new_zeros(rows, *part.shape[1:])
        padded[: part.shape[0]] = part
        parts = [torch.empty_like(padded) for _ in range(self.size)]
        dist.all_gather(parts, padded)
        sizes = self.add(*(float(part.shape[0]) if rank == self.rank else 0.0 for rank in range(self.size)))
        whole = part.new_empty(int(sum(sizes)), *part.shape[1:])
        for rank, (piece, count) in enumerate(zip(parts, sizes, strict=True)):
            whole[rank :: self.size] = piece[: int(count)]
        return whole

    def mine(self, part: Tensor) -> Tensor:
        """This rank's rows (dimension 0) of a whole batch."""
        return part if self.size == 1 else part[self.rank :: self.size].contiguous()


def _device() -> str:
    return "cuda" if dist.get_backend() == "nccl" else "cpu"


def world_size() -> int:
    """How many processes torchrun started; 1 without it."""
    value = os.environ.get("WORLD_SIZE", "1")
    if not value.isascii() or not value.isdigit() or not 1 <= int(value[:9]) <= 100_000:
        raise ExeclabError(f"WORLD_SIZE is {value[:40]!r}; torchrun sets it to the number of processes, at least 1")
    return int(value)


def join(batch: int) -> Ranks:
    """The ranks that torchrun started, or this process alone."""
    size = world_size()
    if size > batch:
        raise ExeclabError(f"a batch of {batch} rows cannot be shared between {size} processes")
    if size == 1 or "MASTER_ADDR" not in os.environ:
        return Ranks()
    if not dist.is_available():
        raise ExeclabError("this PyTorch has no torch.distributed, so a run cannot be shared between processes")
    if not dist.is_initialized():
        try:
            dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
        except (ValueError, RuntimeError) as error:
            reason = " ".join(str(error).split())[:120]
            raise ExeclabError(f"the processes that torchrun started cannot be joined: {reason}") from None
    return Ranks(dist.get_rank(), size)
