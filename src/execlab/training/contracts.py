"""Classes from outside are tried before a run begins, so that a broken contract is a sentence and not a traceback."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import torch

from execlab.data.vocabulary import vocabulary_with
from execlab.errors import ExeclabError
from execlab.randomness import stream
from execlab.registry import broken, is_path
from execlab.tasks import Difficulty, Sample, check_difficulty

if TYPE_CHECKING:
    from execlab.curriculum import Strategy
    from execlab.models.model import Model
    from execlab.tasks import Task
    from execlab.training.config import Config


def check_contracts(config: Config, task: Task, strategy: Strategy, model: Model) -> None:
    """Raise unless what comes from outside does what its contract says."""
    trials = (("task", _try_task, task), ("strategy", _try_strategy, strategy), ("model", _try_model, model))
    for what, trial, part in trials:
        if not is_path(name := getattr(config, what)):
            continue
        try:
            trial(config, task, part)  # type: ignore[arg-type]
        except ExeclabError as error:
            raise ExeclabError(f"the {what} {name} does not keep its contract: {error}") from None
        except Exception as error:
            raise broken(what, name, error) from error


def _try_task(config: Config, task: Task, _: Task) -> None:
    for number in range(20):
        plain = task.draw(stream("contract", number), config.goal)
        sample = task.render(plain)
        if not isinstance(sample, Sample):
            raise ExeclabError(f"draw and render must give a Sample, not a {type(sample).__name__}")
        known = vocabulary_with(task.symbols)
        if unknown := sorted(set(sample.input + sample.target) - set(known)):
            raise ExeclabError(
                f"it writes {''.join(unknown)[:40]!r}, which is in neither the vocabulary nor its symbols"
            )
        if (truth := task.solve(sample.input)) != sample.target:
            raise ExeclabError(f"{sample.input!r} has the target {sample.target!r}, but solve says {truth!r}")
        if (undone := task.plain(sample.input)) != plain.input:
            raise ExeclabError(f"plain gives {undone!r} for the rendered input of {plain.input!r}")
        if (form := task.canonical(plain.input)) != plain.canonical and plain.canonical:
            raise ExeclabError(f"canonical gives {form!r} for {plain.input!r}, and draw says {plain.canonical!r}")
        task.groups(sample)


def _try_strategy(config: Config, task: Task, strategy: Strategy) -> None:
    del config
    for number in range(20):
        difficulty = strategy.draw(stream("contract", number))
        if not isinstance(difficulty, Difficulty):
            raise ExeclabError(f"draw must give a Difficulty, not {difficulty!r}")
        check_difficulty(task, difficulty)
    for difficulty in (*strategy.probes(), *strategy.difficulties(), strategy.current):
        check_difficulty(task, difficulty)
    before = strategy.state_dict()
    strategy.load_state_dict(json.loads(json.dumps(before)))
    if json.dumps(strategy.state_dict()) != json.dumps(before):
        raise ExeclabError("its state_dict is not the same after going to JSON and back")


@torch.no_grad()
def _try_model(config: Config, task: Task, model: Model) -> None:
    del config
    size, sizes = len(vocabulary_with(task.symbols)), torch.tensor([2, 2, 1])
    ids = torch.zeros(5, dtype=torch.int64, device=next(model.parameters()).device)
    features, state = model(ids, sizes, model.start(2))
    if (shape := tuple(model.logits(features).shape)) != (5, size):
        raise ExeclabError(f"its logits for 5 characters have the shape {shape}; it must be (5, {size})")
    model.select(state, torch.tensor([1, 0, 0], device=ids.device))
    for name, part in model.activations(state).items():
        if part.dim() != 3 or part.shape[0] != 2:
            raise ExeclabError(
                f"its activations {name!r} have the shape {tuple(part.shape)}; (rows, layers, units) is due"
            )
    if not isinstance(model.flops_per_character(), int | float):
        raise ExeclabError("flops_per_character must be a number")
    model.matrices()
