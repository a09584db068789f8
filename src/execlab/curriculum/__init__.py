"""Which difficulty comes next: the paper's strategies. A new one is one function and one line in `STRATEGIES`."""

from execlab.curriculum.staircase import CLIMBING, Curriculum, Order, Trigger, staircase, stairs
from execlab.curriculum.strategies import STRATEGIES, baseline, combined, mix, naive

__all__ = [
    "CLIMBING",
    "STRATEGIES",
    "Curriculum",
    "Order",
    "Trigger",
    "baseline",
    "combined",
    "mix",
    "naive",
    "staircase",
    "stairs",
]
