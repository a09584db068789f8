"""All that a run is between two steps, and how it goes to disk and back: weights, optimizer, carried state, strategy,
counters."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from execlab.curriculum import Tally
from execlab.errors import ExeclabError
from execlab.tasks import Difficulty
from execlab.training import checkpoints, weights
from execlab.training.config import EPOCH, SMALLEST_RATE, Config
from execlab.training.optimizers import DECAY, trapezoid

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import torch
    from torch import Tensor

    from execlab.curriculum import Strategy
    from execlab.models.model import Model, State
    from execlab.training.parallel import Ranks

_CARRIED = {"0": "h", "1": "c"}  # as execlab 0.2 called them, layers before rows


@dataclass
class Counters:
    """How far a run is, and what it has seen since the last evaluation."""

    step: int = 0
    samples: int = 0
    characters: int = 0
    seconds: float = 0.0
    decays: int = 0
    evaluations: int = 0
    loss: float = 0.0
    tallies: list[list[int]] = field(default_factory=list)  # length, nesting, samples, right and counted characters
    finished: str = ""

    def count(self, tallies: Mapping[Difficulty, Tally]) -> None:
        """Add what a step has seen, by difficulty."""
        known = {(line[0], line[1]): line for line in self.tallies}
        for difficulty, tally in tallies.items():
            line = known.get(difficulty)
            if line is None:
                self.tallies.append([*difficulty, *tally])
            else:
                line[2:] = [old + new for old, new in zip(line[2:], tally, strict=True)]

    def to_json(self) -> dict[str, Any]:
        """For a checkpoint and a report."""
        return asdict(self)

    def training(self) -> dict[Difficulty, Tally]:
        """What was seen since the last evaluation, by difficulty."""
        return {Difficulty(length, nesting): Tally(*rest) for length, nesting, *rest in sorted(self.tallies)}


def read_counters(stored: Mapping[str, Any], current: Difficulty) -> Counters:
    """Counters from their JSON, of this version or an older one; `current` is the difficulty in use."""
    known = {name: value for name, value in stored.items() if name not in ("padding", "right", "counted")}
    if "right" in stored:  # execlab 0.2: of all difficulties together
        known["tallies"] = [[*current, 0, stored["right"], stored["counted"]]]
    return Counters(**known)


@dataclass
class Run:
    """A run between two steps."""

    config: Config
    folder: Path
    device: torch.device
    model: Model
    optimizer: torch.optim.Optimizer
    strategy: Strategy
    ranks: Ranks
    counters: Counters = field(default_factory=Counters)
    carried: State | None = None  # of a model that reads an endless stream
    check: Callable[[], None] = lambda: None  # before every write: raises if the folder has been taken over

    def rate(self) -> float:
        """The learning rate of the next step."""
        if self.config.schedule == "paper":
            return float(self.config.learning_rate * DECAY**self.counters.decays)
        return trapezoid(self.config, self.counters.step, self.used())

    def used(self) -> float:
        """The share of the budget that is used; 0 where there is no limit."""
        now, limits = self.counters, self.config
        epochs = limits.epochs * EPOCH if limits.epochs else None
        minutes = None if limits.minutes is None else limits.minutes * 60
        pairs = (
            (now.step, limits.steps),
            (now.samples, limits.samples),
            (now.samples, epochs),
            (now.characters, limits.characters),
            (now.seconds, minutes),
        )
        return max((spent / limit for spent, limit in pairs if limit is not None), default=0.0)

    def end(self) -> str:
        """Why training is over, or nothing."""
        if self.used() >= 1:
            return "the budget is used up"
        if self.config.schedule == "paper" and self.rate() < SMALLEST_RATE:
            return f"the learning rate fell below {SMALLEST_RATE}"
        return ""

    def save(self) -> None:
        """Write a checkpoint."""
        packed = {} if self.carried is None else self.model.pack_state(self.carried)
        carried = {name: self.ranks.gather(part.contiguous()) for name, part in packed.items()}
        if not self.ranks.leads:
            return
        tensors = {f"model.{name}": tensor for name, tensor in self.model.state_dict().items()}
        for number, slots in self.optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{number}.{name}": value for name, value in slots.items() if value is not None}
        tensors |= {f"carried.{name}": part for name, part in carried.items()}
        state = {"counters": self.counters.to_json(), "strategy": self.strategy.state_dict()}
        checkpoints.save(self.folder / "checkpoints", self.counters.step, tensors, state, self.check)

    def restore(self, checkpoint: checkpoints.Checkpoint) -> None:
        """Become what the checkpoint says."""
        try:
            self._restore(checkpoint)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError, RuntimeError) as error:
            if isinstance(error, ExeclabError):
                raise
            raise ExeclabError(
                f"the checkpoint of step {checkpoint.step} in {self.folder} does not fit its Config"
            ) from None

    def _restore(self, checkpoint: checkpoints.Checkpoint) -> None:
        where = self.folder / "checkpoints"
        groups: dict[str, dict[str, Tensor]] = {"model": {}, "optimizer": {}, "carried": {}}
        for name, tensor in checkpoint.tensors.items():
            group, _, rest = name.partition(".")
            groups[group][rest] = tensor
        weights.fill(self.model, weights.current_names(groups["model"]), where)
        slots: dict[int, dict[str, Tensor]] = {}
        for name, tensor in groups["optimizer"].items():
            number, _, slot = name.partition(".")
            slots.setdefault(int(number), {})[slot] = tensor
        self.optimizer.load_state_dict({"state": slots, "param_groups": self.optimizer.state_dict()["param_groups"]})
        if groups["carried"]:
            packed = {_CARRIED.get(name, name): part for name, part in groups["carried"].items()}
            if groups["carried"].keys() & _CARRIED.keys():
                packed = {name: part.transpose(0, 1) for name, part in packed.items()}
            mine = {name: self.ranks.mine(part).to(self.device) for name, part in packed.items()}
            self.carried = self.model.unpack_state(mine)
        state = "strategy" if "strategy" in checkpoint.state else "curriculum"  # the word of execlab 0.2
        self.strategy.load_state_dict(checkpoint.state[state])
        self.counters = read_counters(checkpoint.state["counters"], self.strategy.current)
