"""Everything that defines a run: one frozen Config, and the presets that are instances of it.

Task, strategy and model are names (or import paths, see registry.py), each with options of its own. Every other field
is a flag of `execlab train`; its comment is the flag's help. `make_config` takes options by their bare names.

>>> PRESETS["paper"].model_options["cells"], PRESETS["paper"].learning_rate
(400, 0.5)
>>> make_config("laptop", task="memorization", length=5, invert=True).task_options
Options({'invert': True, 'double': False})
>>> make_config("laptop", model="gru", forget_bias=1.0)
Traceback (most recent call last):
execlab.errors.ExeclabError: the model gru has no option 'forget_bias'; its options are layers, cells, ...
>>> Config(task="addition", length=3, nesting=2)
Traceback (most recent call last):
execlab.errors.ExeclabError: nesting is 2 for the task addition, but it can only be 1
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from execlab import registry
from execlab.curriculum import STRATEGIES, Strategy, make_strategy, strategy_class
from execlab.errors import ExeclabError, unknown
from execlab.models import MODELS, OPTIONS, make_options, options_class
from execlab.options import LARGEST, TINY, Option, Options, complete, option, options_of
from execlab.tasks import TASKS, Difficulty, Task, check_difficulty, make_task, task_class

Feed = Literal["stream", "aligned"]
Optimizer = Literal["sgd", "adamw", "muon"]
Schedule = Literal["paper", "trapezoid"]
Precision = Literal["auto", "float32", "bfloat16"]
Kernel = Literal["auto", "native", "torch"]

EPOCH = 500_000  # samples; the paper's memorization runs have 20 epochs
SMALLEST_RATE = 0.001  # paper: stop when the learning rate becomes smaller


@dataclass(frozen=True)
class Config:
    """A run; the defaults are the paper's."""

    task: str = option("program", "What to learn.")
    task_options: Mapping[str, Any] = field(default_factory=Options)
    # The task knows the bounds of its difficulty.
    length: int = option(4, "The goal: digits per integer.", -LARGEST, LARGEST)
    nesting: int = option(1, "The goal: operations per program.", -LARGEST, LARGEST)
    scramble: int | None = option(None, "Permute the characters with this seed.", -LARGEST, LARGEST)

    strategy: str = option("combined", "Which difficulty a training sample has.")
    strategy_options: Mapping[str, Any] = field(default_factory=Options)

    feed: Feed = option("stream", "Endless rows cut into windows, or whole samples from a zero state.")
    window: int = option(50, "stream: characters per row and step.", 1, 10**6)
    batch: int = option(100, "Rows per step.", 1, 10**6)

    model: str = option("lstm", "The kind of network.")
    model_options: Mapping[str, Any] = field(default_factory=Options)
    weights: str | None = option(None, "Start with the weights of this run or model file.")

    optimizer: Optimizer = option("sgd", "Plain SGD, AdamW, or Muon for the matrices and AdamW for the rest.")
    learning_rate: float = option(0.5, "The learning rate at its height.", TINY, 1e4)
    schedule: Schedule = option("paper", "paper: times 0.8 at the goal; trapezoid: warm-up, level, linear decay to 0.")
    warmup: int = option(0, "trapezoid: steps of warm-up.", 0, 10**12)
    decay: float = option(0.4, "trapezoid: the last part of the budget in which the rate falls to 0.", 0, 1)
    weight_decay: float = option(0.0, "AdamW, Muon: decoupled weight decay.", 0, 1e3)
    clip: float = option(5.0, "Largest norm of the gradient.", TINY, 1e12)

    evaluate_every: int = option(100, "Steps between evaluations.", 1, 10**9)
    evaluate_count: int = option(500, "Validation samples per evaluation.", 1, 10**6)
    checkpoint_every: int = option(1, "Evaluations between checkpoints.", 1, 10**9)
    test_count: int = option(2_000, "Test samples, scored once at the end.", 1, 10**7)

    steps: int | None = option(None, "Stop after this many steps.", 1, 10**15)
    samples: int | None = option(None, "Stop after this many samples.", 1, 10**15)
    characters: int | None = option(None, "Stop after this many characters.", 1, 10**15)
    minutes: float | None = option(None, "Stop after this much training time (not exactly repeatable).", TINY, 1e8)
    epochs: int | None = option(None, "Stop after this many epochs of 0.5 M samples; 0: no such limit.", 0, 10**9)

    precision: Precision = option("auto", "float32, or bfloat16 matmuls; auto: what the device does well.")
    kernel: Kernel = option("auto", "On a CPU: the recurrence in C or in PyTorch; auto: C where a compiler is.")
    threads: int = option(0, "CPU threads; 0: all cores.", 0, 4_096)
    device: str = option("auto", "cpu, cuda, mps; auto: the best there is.")
    seed: int = option(0, "Seed of the model.", 0, LARGEST)
    data_seed: int = option(0, "Seed of the training samples.", 0, LARGEST)

    def __post_init__(self) -> None:
        for each in FIELDS.values():
            each.check(getattr(self, each.name))
        registry.check_trusted(*(getattr(self, what) for what in PARTS))
        for what, kind in (("task", task_class), ("strategy", strategy_class), ("model", options_class)):
            name, given = getattr(self, what), getattr(self, f"{what}_options")
            if not isinstance(given, Mapping):
                raise ExeclabError(f"{what}_options is {repr(given)[:40]}; it must be options by their names")
            object.__setattr__(self, f"{what}_options", complete(what, name, kind(name), given))
        check_difficulty(self.make_task(), self.goal)
        make_options(self.model, self.model_options)  # what its options may be together
        limits = (self.steps, self.samples, self.characters, self.minutes, self.epochs)
        if self.schedule == "trapezoid" and not any(limits):
            raise ExeclabError("schedule=trapezoid needs a limit: steps, samples, characters, minutes or epochs")

    @property
    def goal(self) -> Difficulty:
        """The difficulty being aimed at."""
        return Difficulty(self.length, self.nesting)

    def make_task(self) -> Task:
        """The task with its options."""
        return make_task(self.task, self.task_options)

    def make_strategy(self) -> Strategy:
        """The strategy as it is at the start."""
        return make_strategy(self.strategy, self.goal, self.strategy_options)


PARTS = ("task", "strategy", "model")
FIELDS: dict[str, Option] = {}  # everything but the options of task, strategy and model
FIELDS |= options_of(Config)
LIMITS = ("steps", "samples", "characters", "minutes", "epochs")


def choices(name: str) -> tuple[str, ...]:
    """What a field may say, if that is a list; task, strategy and model also take import paths."""
    known: dict[str, Mapping[str, object]] = {"task": TASKS, "strategy": STRATEGIES, "model": MODELS}
    return tuple(known[name]) if name in known else FIELDS[name].choices


def built_in_options(what: str) -> dict[str, Option]:
    """The options of all built-in tasks, strategies or models by name; one name means the same everywhere."""
    every: dict[str, Mapping[str, type]] = {"task": TASKS, "strategy": STRATEGIES, "model": OPTIONS}
    kinds = every[what]
    return {name: each for kind in dict.fromkeys(kinds.values()) for name, each in options_of(kind).items()}


_LAPTOP = Config(
    feed="aligned",
    batch=32,
    model_options={"cells": 128, "embedding": 64, "chrono": 40.0},
    optimizer="muon",
    learning_rate=0.01,
    schedule="trapezoid",
    warmup=100,
    clip=1.0,
    evaluate_count=200,
    samples=300_000,
)

PRESETS: dict[str, Config] = {
    # To the letter of the paper's section 6. Stops when the rate is below 0.001; memorization after 20 epochs.
    "paper": Config(),
    # Two CPU cores, minutes. What each choice is worth: docs/log.md.
    "laptop": _LAPTOP,
    # The paper's headline, addition of 9 digits, in minutes on one CPU core: more patience on every stair.
    "speedrun": replace(
        _LAPTOP,
        task="addition",
        task_options={},
        length=9,
        strategy_options={"start": 2, "advance_at": 0.98, "patience": 30},
        samples=2_400_000,
        test_count=5_000,
    ),
    # Seconds, for tests.
    "smoke": Config(
        task="addition",
        length=2,
        feed="aligned",
        batch=8,
        model_options={"cells": 16, "embedding": 8},
        optimizer="adamw",
        learning_rate=1e-2,
        schedule="trapezoid",
        clip=1.0,
        evaluate_every=10,
        evaluate_count=16,
        strategy_options={"patience": 1},
        test_count=40,
        steps=60,
        threads=1,
    ),
}


# Where a preset differs by task.
BY_TASK: dict[tuple[str, str], dict[str, Any]] = {
    ("paper", "memorization"): {"epochs": 20},  # the paper's termination
    ("laptop", "program"): {"samples": 600_000},
    ("laptop", "memorization"): {"samples": 200_000},
}


# One dial for every model: about 60,000, 240,000 and 940,000 parameters, within a tenth of each other.
SIZES: dict[str, dict[str, dict[str, int]]] = {
    "small": {
        "lstm": {"layers": 2, "cells": 64, "embedding": 32},
        "gru": {"layers": 2, "cells": 74, "embedding": 36},
        "transformer": {"layers": 2, "cells": 48, "heads": 4},
        "universal": {"layers": 4, "cells": 64, "heads": 4},
    },
    "medium": {
        "lstm": {"layers": 2, "cells": 128, "embedding": 64},
        "gru": {"layers": 2, "cells": 148, "embedding": 64},
        "transformer": {"layers": 2, "cells": 96, "heads": 4},
        "universal": {"layers": 4, "cells": 136, "heads": 4},
    },
    "large": {
        "lstm": {"layers": 2, "cells": 256, "embedding": 128},
        "gru": {"layers": 2, "cells": 296, "embedding": 128},
        "transformer": {"layers": 4, "cells": 136, "heads": 4},
        "universal": {"layers": 6, "cells": 272, "heads": 4},
    },
}
PRESET_SIZES = {"laptop": "medium", "speedrun": "medium"}  # of the models that the preset does not spell out


def make_config(preset: str = "laptop", size: str | None = None, **changes: Any) -> Config:
    """A preset with changes: fields of Config, and options of its task, strategy and model by their bare names.

    `size` sets layers and widths of whichever model it is. Naming an import path here is consent to import it.
    """
    if preset not in PRESETS:
        raise unknown("preset", preset, PRESETS)
    if size is not None and size not in SIZES:
        raise unknown("size", size, SIZES)
    start = PRESETS[preset]
    registry.trust(*(changes[what] for what in PARTS if registry.is_path(changes.get(what))))
    own: dict[str, Any] = {what: _options(what, start, size, PRESET_SIZES.get(preset), changes) for what in PARTS}
    known = {name for options in own.values() for name in options} | {each.name for each in fields(Config)}
    everything = {name for what in PARTS for name in built_in_options(what)}
    if extra := sorted(changes.keys() - known - everything):
        outside = {what: changes[what] for what in PARTS if registry.is_path(changes.get(what))}
        lists = [f"{name} has {', '.join(own[what]) or 'no options'}" for what, name in outside.items()]
        raise ExeclabError(
            f"there is no setting {extra[0][:40]!r}; {'; '.join(['`execlab train --help` lists them all', *lists])}"
        )
    plain = {name: value for name, value in changes.items() if name in FIELDS}
    base = {name: getattr(start, name) for name in FIELDS} | BY_TASK.get(
        (preset, str(changes.get("task", start.task))), {}
    )
    if any(changes.get(limit) is not None for limit in LIMITS):
        base |= dict.fromkeys(LIMITS)  # a limit that is asked for replaces the preset's
    return Config(**{**base, **plain}, **{f"{what}_options": own[what] for what in PARTS})


CLASSES: dict[str, Callable[[str], type]] = {
    "task": task_class,
    "strategy": strategy_class,
    "model": options_class,
}


def _options(
    what: str, start: Config, size: str | None, usual: str | None, changes: Mapping[str, Any]
) -> dict[str, Any]:
    """The options of the task, strategy or model in question: the preset's as far as it has them, then changes."""
    name = changes.get(what, getattr(start, what))
    mine = options_of(CLASSES[what](name))
    usual_values = options_of(CLASSES[what](getattr(start, what)))
    preset = {  # what it chose; a default of its own task, strategy or model is not a choice for another one
        key: value for key, value in getattr(start, f"{what}_options").items() if value != usual_values[key].default
    }
    if what == "model":
        other = name != start.model
        sizes = SIZES.get(size or (usual if other else None) or "", {}).get(name, {})
        preset = {**preset, **sizes}
    given = dict(changes.get(f"{what}_options") or {})
    for option_name in built_in_options(what) | mine:
        # An option of another task is refused below; one that two parts have belongs to both.
        if option_name in changes and (option_name in mine or not _elsewhere(what, option_name, start, changes)):
            given[option_name] = changes[option_name]
    return {**{key: value for key, value in preset.items() if key in mine}, **given}


def _elsewhere(what: str, option_name: str, start: Config, changes: Mapping[str, Any]) -> bool:
    """Whether an option belongs to one of the other parts, or is a field of Config."""
    if option_name in FIELDS:
        return True
    others = (part for part in PARTS if part != what)
    return any(option_name in options_of(CLASSES[part](changes.get(part, getattr(start, part)))) for part in others)


def config_from_dict(stored: Mapping[str, Any]) -> Config:
    """A Config from its JSON, of this version or of one that had all options side by side."""
    if any(f"{what}_options" in stored for what in PARTS):
        if extra := sorted(stored.keys() - {each.name for each in fields(Config)}):
            raise ExeclabError(f"there is no setting {extra[0][:40]!r}")
        return Config(**stored)
    config = dict(stored)
    nested: dict[str, Any] = {}
    for what in PARTS:
        name = config.get(what, getattr(PRESETS["paper"], what))
        old = {key: config.pop(key) for key in built_in_options(what) if key in config}
        mine = options_of(CLASSES[what](name)) if isinstance(name, str) else {}
        if what == "task":  # options of other tasks were None
            mine = {**mine, **{key: Option(key, object, None) for key, value in old.items() if value is not None}}
        nested[f"{what}_options"] = {key: value for key, value in old.items() if key in mine}
    if extra := sorted(config.keys() - FIELDS.keys()):
        raise ExeclabError(f"there is no setting {extra[0][:40]!r}")
    return Config(**config, **nested)
