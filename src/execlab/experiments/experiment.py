"""What an experiment is: a grid of runs, the figures drawn from their rows, and the claims judged by them.

One file beside this one per figure of the paper. Three scales:

    smoke    seconds, for tests
    laptop   a part of the paper's grid; every run of a setting reads the same number of characters
    paper    exactly the paper's network, feed and stopping rule

A setting is a difficulty with its budget of characters. At scale laptop the budget is 1.5 times what `combined` needs
to get 90 % of the characters right on validation. recipes/calibrate.py measured that once; nothing else depends on it.
Every run has one thread.

>>> grid = cross("smoke", 1, ("baseline", "naive"), {(2, 1): 40_000}, task="addition")
>>> [planned.name for planned in grid]
['addition-2x1-baseline-0', 'addition-2x1-naive-0']
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from execlab.registry import short_name
from execlab.training.config import Config, make_config

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.figure import Figure

    from execlab.experiments.analyse.claims import Claim
    from execlab.experiments.analyse.rows import Row

Scale = Literal["smoke", "laptop", "paper"]
SCALES: tuple[str, ...] = get_args(Scale)
SEEDS = {"smoke": 1, "laptop": 3, "paper": 3}
MILLION = 1_000_000
Budget = Literal["full", "short"]

Settings = dict[tuple[int, int], int]  # (length, nesting): characters


class Planned(NamedTuple):
    """One run of a grid: the name of its folder, its configuration, and which budget of its setting it has."""

    name: str
    config: Config
    budget: Budget = "full"


class Drawing(NamedTuple):
    """How one figure is drawn, its size in inches, and which rows of the experiment it shows."""

    make: Callable[[Figure, Sequence[Row]], None]
    size: tuple[float, float]
    shows: Callable[[Row], bool] = lambda _: True


@dataclass(frozen=True)
class Experiment:
    """A figure of the paper. It names its strategies, so that a new strategy changes no old figure."""

    name: str
    strategies: tuple[str, ...]
    grid: Callable[[str, int], list[Planned]]  # (scale, seeds)
    figures: Mapping[str, Drawing] = field(default_factory=dict)
    claims: tuple[Callable[[Sequence[Row]], Claim], ...] = ()
    prints_examples: bool = False


def cross(
    scale: str,
    seeds: int,
    strategies: Sequence[str],
    settings: Mapping[tuple[int, int], int],
    variants: Mapping[str, Mapping[str, Any]] | None = None,
    budget: Budget = "full",
    **shared: Any,
) -> list[Planned]:
    """Every setting in every variant with every strategy and seed."""
    grid = []
    for (length, nesting), characters in settings.items():
        for variant, options in (variants or {"": {}}).items():
            for strategy in strategies:
                for seed in range(seeds):
                    limit = {"characters": characters} if characters else {}
                    config = make_config(
                        scale,
                        **{
                            "length": length,
                            "nesting": nesting,
                            "strategy": strategy,
                            "seed": seed,
                            "data_seed": seed,
                            "threads": 1,
                            **shared,
                            **limit,
                            **options,
                        },
                    )
                    names = short_name(config.task), short_name(strategy)
                    parts = [names[0], f"{length}x{nesting}", variant.replace(" ", "-"), names[1], str(seed)]
                    grid.append(Planned("-".join(part for part in parts if part), config, budget))
    return grid
