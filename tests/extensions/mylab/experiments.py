"""Does the bandit beat the paper's strategies on Maximum?"""

from execlab.experiments import Experiment, cross
from execlab.experiments.analyse.claims import Comparison

STRATEGIES = ("combined", "mylab.teachers:Bandit")


def grid(scale, seeds):
    """Every setting with each strategy and seed; the model is our own."""
    budgets = {(2, 1): 4_000} if scale == "smoke" else {(2, 1): 2_000_000, (4, 1): 4_000_000}
    return cross(scale, seeds, STRATEGIES, budgets, task="mylab.tasks:Maximum", model="mylab.models:Tiny")


EXPERIMENT = Experiment(
    name="bandit",
    strategies=STRATEGIES,
    grid=grid,
    claims=(Comparison("the bandit is above combined", "mylab.teachers:Bandit", "combined"),),
)
