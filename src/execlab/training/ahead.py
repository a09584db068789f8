"""The next step's batch, drawn where that costs no time."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from execlab.data.batches import AlignedFeed, Batch, StreamFeed
    from execlab.training.state import Run


def draw_ahead(run: Run, feed: AlignedFeed | StreamFeed, ahead: dict[int, Batch]) -> None:
    """Have the next step's batch drawn while the kernel's other threads begin with this one's forward pass.

    Not across an evaluation, after which the strategy may draw other samples.
    """
    number, kernel = run.counters.step + 1, run.model.kernel
    if kernel is not None and kernel.threads > 1 and number % run.config.evaluate_every:

        def draw() -> None:
            ahead[number] = feed.batch(number)

        kernel.chores[:] = [draw]
