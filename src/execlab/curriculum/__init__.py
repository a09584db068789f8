"""Which difficulty comes next: the paper's strategies. A new one is one function and one line in `STRATEGIES`."""

from execlab.curriculum.strategies import STRATEGIES, baseline, combined, mix, naive

__all__ = ["STRATEGIES", "baseline", "combined", "mix", "naive"]
