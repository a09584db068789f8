"""The paper's figures as lists of runs: plain data, one table per task, three scales.

    smoke    seconds, for tests
    laptop   the paper's grid thinned; every run of a cell reads the same number of characters
    paper    to the letter: the paper's network, feed and rule for the end of a run

A cell is a difficulty with its budget of characters. At scale laptop it is 1.5 times what `combined` needs to get 90 %
of the characters right on validation, measured once by recipes/calibrate.py; nothing else depends on these numbers.
Every run has one thread, and all runs of a grid the same precision: float32 unless bfloat16 is asked for, which pays
where the processor has it, or `auto`, which reproduce.py decides difficulty by difficulty.

>>> [planned.name for planned in make_grid("addition", "smoke", seeds=1)][:2]
['addition-2x1-baseline-0', 'addition-2x1-naive-0']
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from execlab.errors import unknown
from execlab.training.config import Config, make_config

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from execlab.training.config import Precision

Scale = Literal["smoke", "laptop", "paper"]
SCALES: tuple[str, ...] = get_args(Scale)
SEEDS = {"smoke": 1, "laptop": 3, "paper": 3}
MILLION = 1_000_000
PAPER = ("baseline", "naive", "mix", "combined")  # a new strategy changes no figure of the paper

Cells = dict[tuple[int, int], int]  # (length, nesting): characters

# paper: the axes of its figures are not in the text; its appendix shows lengths 4 and 6, nestings 1 to 3.
PAPER_PROGRAMS = [(length, nesting) for nesting in (1, 2, 3, 4) for length in (2, 4, 6, 8)]
PROGRAMS: dict[str, Cells] = {
    "smoke": {(2, 1): 40_000, (1, 2): 40_000},
    "laptop": {
        (1, 2): 9_640_000,
        (2, 1): 13_720_000,
        (2, 2): 12 * MILLION,  # too short for 90 %
        (4, 3): 6 * MILLION,  # deliberately too hard
        (1, 3): 16_880_000,  # (3, 1) would have 28.9 M: half as much again as all the others together
    },
    "paper": dict.fromkeys(PAPER_PROGRAMS, 0),
}
ADDITION: dict[str, Cells] = {
    "smoke": {(2, 1): 40_000, (3, 1): 40_000},
    "laptop": {  # 1.5 times what `combined` needed (results/calibration.json)
        (2, 1): 1_120_000,
        (3, 1): 2_310_000,
        (4, 1): 4_150_000,
        (5, 1): 10_760_000,
        (7, 1): 4_150_000,  # deliberately too hard
    },
    "paper": {(length, 1): 0 for length in range(1, 10)},
}
MEMORIZATION: dict[str, Cells] = {
    "smoke": {(3, 1): 24_000},
    "laptop": {
        (5, 1): 210_000,
        (15, 1): 1_400_000,
        (25, 1): 3_380_000,
        (55, 1): 1_400_000,  # deliberately too hard
    },
    "paper": {(length, 1): 0 for length in range(5, 70, 10)},
}
MODIFICATIONS: dict[str, dict[str, bool]] = {
    "plain": {},
    "inverted": {"invert": True},
    "doubled": {"double": True},
    "doubled and inverted": {"invert": True, "double": True},
}
EXAMPLES: dict[str, Cells] = {
    "smoke": {(2, 1): 40_000},
    "laptop": {cell: PROGRAMS["laptop"][cell] for cell in ((2, 1), (2, 2))},
    "paper": {(length, nesting): 0 for length in (4, 6) for nesting in (1, 2, 3)},
}
STATISTICS: dict[str, Cells] = {
    "smoke": {(2, 1): 40_000},
    "laptop": {cell: PROGRAMS["laptop"][cell] for cell in ((2, 1),)},
    "paper": {(4, 1): 0},
}
ORDERS: dict[str, Cells] = {
    "smoke": {(2, 2): 40_000},
    "laptop": {cell: PROGRAMS["laptop"][cell] for cell in ((2, 2),)},
    "paper": {(4, 2): 0},
}
HEADLINE: dict[str, dict[str, Any]] = {
    "smoke": {"length": 3, "characters": 40_000},
    "laptop": {"preset": "speedrun"},
    "paper": {"length": 9},
}
SHORT = 4  # memorization after a fixed number of epochs: the budget of convergence divided by this


class Planned(NamedTuple):
    """One run of a grid: the name of its folder, and what it is."""

    name: str
    config: Config


def modification(config: Config) -> str:
    """What is done to the input of memorization, in words; empty for other tasks."""
    if config.task != "memorization":
        return ""
    done = {name: True for name, value in config.task_options.items() if value}
    return next(name for name, options in MODIFICATIONS.items() if options == done)


def _runs(
    scale: str,
    seeds: int,
    cells: Mapping[tuple[int, int], int],
    variants: Mapping[str, Mapping[str, Any]],
    strategies: tuple[str, ...] = PAPER,
    **shared: Any,
) -> list[Planned]:
    """Every cell in every variant with every strategy and seed."""
    found = []
    for (length, nesting), characters in cells.items():
        for variant, options in variants.items():
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
                    parts = [config.task, f"{length}x{nesting}", variant.replace(" ", "-"), strategy, str(seed)]
                    found.append(Planned("-".join(part for part in parts if part), config))
    return found


def programs(scale: str, seeds: int) -> list[Planned]:
    """Length x nesting x strategy."""
    return _runs(scale, seeds, PROGRAMS[scale], {"": {}}, task="program")


def addition(scale: str, seeds: int) -> list[Planned]:
    """Length x strategy."""
    return _runs(scale, seeds, ADDITION[scale], {"": {}}, task="addition")


def memorization(scale: str, seeds: int) -> list[Planned]:
    """Length x modification x strategy, at convergence and after a fixed number of epochs."""
    long: dict[str, dict[str, Any]] = {name: {**options} for name, options in MODIFICATIONS.items()}
    if scale == "smoke":
        return _runs(
            scale, seeds, MEMORIZATION[scale], {name: long[name] for name in ("plain", "inverted")}, task="memorization"
        )
    if scale == "paper":
        long = {name: {**options, "epochs": 0} for name, options in long.items()}
        short = {f"{name} short": {**options, "epochs": 20} for name, options in long.items()}
        return _runs(scale, seeds, MEMORIZATION[scale], {**long, **short}, task="memorization")
    found = _runs(scale, seeds, MEMORIZATION[scale], long, task="memorization")
    fewer = {cell: characters // SHORT for cell, characters in MEMORIZATION[scale].items()}
    short = {f"{name} short": options for name, options in long.items()}
    return found + _runs(scale, seeds, fewer, short, task="memorization")


def examples(scale: str, _seeds: int) -> list[Planned]:
    """The appendix: one model per setting and strategy."""
    return _runs(scale, 1, EXAMPLES[scale], {"": {}}, task="program")


def statistics(scale: str, seeds: int) -> list[Planned]:
    """Output bias against a model's accuracy; the same with scrambled characters."""
    return _runs(scale, seeds, STATISTICS[scale], {"": {}, "scrambled": {"scramble": 1}}, ("combined",), task="program")


def orders(scale: str, seeds: int) -> list[Planned]:
    """The climb of the naive strategy: length first, or nesting first."""
    variants: dict[str, dict[str, Any]] = {"length first": {}, "nesting first": {"order": "nesting_first"}}
    return _runs(scale, seeds, ORDERS[scale], variants, ("naive",), task="program")


def headline(scale: str, seeds: int) -> list[Planned]:
    """Addition of nine digits."""
    chosen = {"preset": scale, **HEADLINE[scale]}
    return [
        Planned(f"addition-{config.length}x1-combined-{seed}", config)
        for seed in range(seeds)
        for config in [make_config(task="addition", seed=seed, data_seed=seed, threads=1, **chosen)]
    ]


EXPERIMENTS: dict[str, Callable[[str, int], list[Planned]]] = {
    "programs": programs,
    "addition": addition,
    "memorization": memorization,
    "examples": examples,
    "statistics": statistics,
    "orders": orders,
    "headline": headline,
}


def make_grid(experiment: str, scale: str, seeds: int | None = None, precision: Precision = "float32") -> list[Planned]:
    """The runs of an experiment."""
    if experiment not in EXPERIMENTS:
        raise unknown("experiment", experiment, EXPERIMENTS)
    if scale not in SCALES:
        raise unknown("scale", scale, SCALES)
    grid = EXPERIMENTS[experiment](scale, SEEDS[scale] if seeds is None else seeds)
    return [planned._replace(config=replace(planned.config, precision=precision)) for planned in grid]
