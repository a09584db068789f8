"""Which difficulty the next training sample has: the paper's four strategies (section 4).

`goal` is the difficulty being aimed at, `current` the one that a climbing curriculum has reached. A strategy is a pure
function of both and of chance; who moves `current`, and when, is not its business.

>>> from execlab.randomness import stream
>>> rng, current, goal = stream("example"), Difficulty(2, 1), Difficulty(6, 3)
>>> baseline(rng, current, goal), naive(rng, current, goal)
(Difficulty(length=6, nesting=3), Difficulty(length=2, nesting=1))
>>> [tuple(mix(rng, current, goal)) for _ in range(5)]
[(5, 3), (1, 1), (3, 1), (2, 2), (5, 3)]
>>> [tuple(combined(rng, current, goal)) for _ in range(8)]
[(2, 1), (3, 2), (2, 1), (2, 1), (2, 1), (2, 1), (2, 1), (2, 1)]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from execlab.randomness import below
from execlab.tasks import Difficulty

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

MIX_SHARE = 0.2  # paper: not given; released code: 20 % mix, 80 % naive


def baseline(_rng: Random, _current: Difficulty, goal: Difficulty) -> Difficulty:
    """No curriculum: always the goal."""
    return goal


def naive(_rng: Random, current: Difficulty, _goal: Difficulty) -> Difficulty:
    """What has been reached so far."""
    return current


def mix(rng: Random, _current: Difficulty, goal: Difficulty) -> Difficulty:
    """Anything up to the goal, length and nesting apart."""
    # paper: drawn for every sample; released code: drawn again for every operand
    return Difficulty(1 + below(rng, goal.length), 1 + below(rng, goal.nesting))


def combined(rng: Random, current: Difficulty, goal: Difficulty, mix_share: float = MIX_SHARE) -> Difficulty:
    """Some samples by mix, the others by naive."""
    return mix(rng, current, goal) if rng.random() < mix_share else naive(rng, current, goal)


STRATEGIES: dict[str, Callable[[Random, Difficulty, Difficulty], Difficulty]] = {
    "baseline": baseline,
    "naive": naive,
    "mix": mix,
    "combined": combined,
}
