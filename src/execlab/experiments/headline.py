"""The headline: adding two numbers of nine digits with 99 % of the characters right (the paper's abstract)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from execlab.experiments.analyse.claims import Claim, percent
from execlab.experiments.analyse.summary import mean
from execlab.experiments.experiment import Experiment, Planned
from execlab.training.config import make_config

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execlab.experiments.analyse.rows import Row

STRATEGIES = ("combined",)
CHANGES: dict[str, dict[str, Any]] = {  # to the preset
    "smoke": {"length": 3, "characters": 40_000},
    "laptop": {"preset": "speedrun"},
    "paper": {"length": 9},
}
DIGITS = 9
WANTED = 0.99  # of the characters


def grid(scale: str, seeds: int) -> list[Planned]:
    """One setting."""
    chosen = {"preset": scale, **CHANGES[scale]}
    return [
        Planned(f"addition-{config.length}x1-{strategy}-{seed}", config)
        for strategy in STRATEGIES
        for seed in range(seeds)
        for config in [make_config(task="addition", strategy=strategy, seed=seed, data_seed=seed, threads=1, **chosen)]
    ]


def learns_nine_digits(rows: Sequence[Row]) -> Claim:
    """Whether the whole interval of the accuracy lies above what the paper reports."""
    longest = max(row.length for row in rows)
    text = f"combined learns to add numbers of {DIGITS} digits with {100 * WANTED:.0f} % of the characters right"
    if len(rows) < 2 or longest < DIGITS:
        return Claim(text, "not tested", f"fewer than two seeds with {DIGITS} digits.")
    characters, whole = mean([row.teacher_forced_accuracy for row in rows]), mean([row.exact_match for row in rows])
    evidence = f"characters {percent(characters)}; whole sums, free-running {percent(whole)}; n={characters.n} seeds."
    return Claim(text, "seen" if characters.low > WANTED else "not seen", evidence)


EXPERIMENT = Experiment(name="headline", strategies=STRATEGIES, grid=grid, claims=(learns_nine_digits,))
