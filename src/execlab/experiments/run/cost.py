"""What a grid will cost: characters, operations, hours on this machine, and hours on a GPU of an assumed speed.

Speed is measured each time: a few steps at the goal and on the first stair, one evaluation and one checkpoint of every
kind of run in the grid, and one whole run of a single step. A run at the paper's scale ends by the paper's rule, so its
length is not known in advance; `ASSUMED` says what is assumed instead.
"""

from __future__ import annotations

import os
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from execlab import registry
from execlab.curriculum import make_strategy
from execlab.data.sampling import Source
from execlab.errors import ExeclabError
from execlab.evaluation.decoding import answer
from execlab.experiments import Planned
from execlab.experiments.run import processes, work
from execlab.training import hardware, loop, weights
from execlab.training.config import EPOCH, SMALLEST_RATE, Config
from execlab.training.optimizers import DECAY

if TYPE_CHECKING:
    from collections.abc import Sequence

EVALUATIONS_PER_STAIR = 10
EVALUATIONS_PER_DECAY = 6
GPU_FLOPS = 5e12  # of such a small recurrence on one data-centre GPU; assumed, not measured
ASSUMED = (
    f"assumptions: a run that ends by the paper's rule takes {EVALUATIONS_PER_STAIR} evaluations per stair and "
    f"{EVALUATIONS_PER_DECAY} per decay of the learning rate; a GPU does {GPU_FLOPS / 1e12:.0f} TFLOP/s"
)
STEPS = 8


class Cost(NamedTuple):
    """The cost of one run."""

    characters: int
    flops: float
    seconds: float  # on one worker of this machine


class Speed(NamedTuple):
    """The speed of one kind of run on this machine."""

    characters_per_second: float
    characters_per_step: float
    scored_per_second: float  # characters
    seconds_per_checkpoint: float


def characters(config: Config) -> int:
    """How many characters go through the model, estimated where the paper's rule ends the run."""
    if config.characters:
        return config.characters
    per_step = config.batch * (config.window if config.feed == "stream" else _mean_length(config))
    if config.steps:
        return config.steps * per_step
    samples = config.samples or (config.epochs or 0) * EPOCH
    if samples:
        return samples * _mean_length(config)
    decays, rate = 0, config.learning_rate
    while rate >= SMALLEST_RATE:
        decays, rate = decays + 1, rate * DECAY
    climbs = len(config.make_strategy().difficulties()) - 1
    evaluations = climbs * EVALUATIONS_PER_STAIR + decays * EVALUATIONS_PER_DECAY
    return evaluations * config.evaluate_every * per_step


def _mean_length(config: Config) -> int:
    source = Source(config.make_task(), config.goal, "train", 0, purpose="cost")  # of no seed: kinds are compared by it
    rows = [row.sample for row in source.rows(stop=100)]
    return sum(len(sample.input) + len(sample.target) + 2 for sample in rows) // len(rows)


def measure(config: Config) -> Speed:
    """A few steps at the goal and on the first stair, one evaluation, one checkpoint."""
    config = hardware.resolve(config)
    with tempfile.TemporaryDirectory() as folder:
        run = loop.new_run(config, Path(folder))
        read, taken, count = 0, 0.0, 0
        climb = run.strategy.difficulties()
        for goal in dict.fromkeys((climb[0], climb[-1])):
            feed = loop.make_feed(config, make_strategy("baseline", goal))
            for step in range(STEPS):
                begin = time.perf_counter()
                batch = feed.batch(step)
                loop.step(run, batch)
                if step >= 2:  # the first ones are slower
                    read, taken, count = read + len(batch.ids), taken + time.perf_counter() - begin, count + 1
        samples = loop.validation_samples(config, config.goal, config.evaluate_count)
        begin = time.perf_counter()
        answer(loop.reader_of(config, run.model), samples, free_running=False)
        scored = len(samples) * _mean_length(config) / (time.perf_counter() - begin)
        begin = time.perf_counter()
        run.save()
        return Speed(read / taken, read / count, scored, time.perf_counter() - begin)


def start_up(config: Config) -> float:
    """Seconds of a run that does nothing: a process begins, learns one step, and is scored."""
    least = replace(config, steps=1, samples=None, characters=None, epochs=None, evaluate_count=1, test_count=1)
    with tempfile.TemporaryDirectory() as folder:
        work.write_grid(Path(folder), [Planned("least", least)])
        begin = time.perf_counter()
        process = processes.start(Path(folder), "least", *registry.trusted())
        process.wait()
        if reason := processes.reason(Path(folder), "least", process):
            raise ExeclabError(f"a run cannot start on this machine: {reason}")
        return time.perf_counter() - begin


def whole(costs: Sequence[Cost], workers: int) -> float:
    """Seconds of a grid with this many workers."""
    every = [cost.seconds for cost in costs]
    return max(sum(every) / min(workers, len(every)), *every)


def estimate(grid: Sequence[Planned]) -> list[Cost]:
    """Estimate the cost of every run of a grid."""
    speeds: dict[tuple[object, ...], Speed] = {}
    starting = start_up(grid[0].config)
    costs = []
    for planned in grid:
        config = planned.config
        kind: tuple[object, ...] = (
            config.model,
            config.model_options,
            config.batch,
            config.optimizer,
            config.feed,
        )
        kind += (config.precision,)
        mean = _mean_length(config)
        # What a step's shape depends on.
        kind += (config.window,) if config.feed == "stream" else (config.task, mean, config.strategy)
        if kind not in speeds:
            speeds[kind] = measure(config)
        speed, total = speeds[kind], characters(config)
        evaluations = total / speed.characters_per_step / config.evaluate_every
        scored = scored_at(config) * evaluations * config.evaluate_count + 4 * config.test_count
        seconds = starting + total / speed.characters_per_second + scored * mean / speed.scored_per_second
        seconds += evaluations / config.checkpoint_every * speed.seconds_per_checkpoint
        costs.append(Cost(total, float(total) * weights.sketch(config).flops_per_character(), seconds))
    return costs


def scored_at(config: Config) -> int:
    """At how many difficulties an evaluation scores, before the goal is the current one."""
    strategy = config.make_strategy()
    return len({strategy.current, *strategy.probes(), config.goal})


def workers_here() -> int:
    """As many processes as fit the cores."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
