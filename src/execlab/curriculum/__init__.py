"""Which difficulty comes next: the paper's strategies and adaptive ones. A new one is one class and one line here."""

from execlab.curriculum.adaptive import MasteringRate, Online, Sampling, Window
from execlab.curriculum.mastery import Mastery
from execlab.curriculum.paper import Baseline, Combined, Mix, Naive
from execlab.curriculum.staircase import Climb, Order, Trigger, staircase
from execlab.curriculum.strategy import Event, Scores, Strategy, Tally
from execlab.options import complete
from execlab.registry import build, find
from execlab.tasks import Difficulty

STRATEGIES: dict[str, type[Strategy]] = {
    "baseline": Baseline,
    "naive": Naive,
    "mix": Mix,
    "combined": Combined,
    "online": Online,
    "window": Window,
    "sampling": Sampling,
    "mastering_rate": MasteringRate,
    "mastery": Mastery,
}
NEEDS = ("draw", "probes", "observe", "state_dict", "load_state_dict", "difficulties", "current", "adaptive")


def strategy_class(name: str) -> type[Strategy]:
    """The class behind a name or a trusted import path."""
    kind: type[Strategy] = find("strategy", name, STRATEGIES, NEEDS)
    return kind


def make_strategy(name: str, goal: Difficulty, options: object = None) -> Strategy:
    """The named strategy for a goal."""
    kind = strategy_class(name)
    given = complete("strategy", name, kind, options if isinstance(options, dict) else {})
    return build("strategy", name, kind, goal, **given)


__all__ = [
    "STRATEGIES",
    "Climb",
    "Event",
    "Order",
    "Scores",
    "Strategy",
    "Tally",
    "Trigger",
    "make_strategy",
    "staircase",
    "strategy_class",
]
