"""What a model reads before the sample that it is asked about.

A model of the aligned feed has always started from zero. A model of the stream has hardly ever: in training every
sample came after another one, so it is asked the same way, after one fixed sample of its own training distribution.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from execlab.data.sampling import Source
from execlab.data.vocabulary import with_end_marks

if TYPE_CHECKING:
    from execlab.training.config import Config


def prompt_of(config: Config) -> str:
    """The text that comes first."""
    if config.feed == "aligned":
        return ""
    source = Source(
        config.make_task(), config.goal, "train", config.data_seed, scramble=config.scramble, purpose="prompt"
    )
    first = source.row(0).sample
    return with_end_marks(first.input, first.target)
