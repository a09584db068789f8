"""Does the bandit beat the paper's strategies on Maximum?"""

from execlab.experiments import Experiment, cross
from execlab.experiments.analyse.claims import Comparison

STRATEGIES = ("combined", "mylab.teachers:Bandit")


def grid(scale, seeds):
    """Two lengths, each with every strategy and seed; the model is our own."""
    settings = {(1, 1): 20_000, (2, 1): 20_000}  # (length, nesting): characters
    return cross(scale, seeds, STRATEGIES, settings, task="mylab.tasks:Maximum", model="mylab.models:Tiny")


EXPERIMENT = Experiment(
    name="bandit",
    strategies=STRATEGIES,
    grid=grid,
    claims=(Comparison("the bandit is above combined", "mylab.teachers:Bandit", "combined"),),
)
