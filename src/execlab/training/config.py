"""Everything that defines a run: one flat Config, and the presets that are instances of it.

Every field is a flag of `execlab train`; its comment is the flag's help.

>>> PRESETS["paper"].cells, PRESETS["paper"].learning_rate
(400, 0.5)
>>> Config(task="addition", length=3, nesting=2)
Traceback (most recent call last):
execlab.errors.ExeclabError: nesting is 2 for the task addition, but it can only be 1
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal, get_args, get_type_hints

from execlab.curriculum import STRATEGIES, Order, Trigger
from execlab.errors import ExeclabError, unknown
from execlab.programs import Dialect, Layout
from execlab.tasks import Difficulty, check_difficulty, make_task

if TYPE_CHECKING:
    from execlab.tasks import Task

Feed = Literal["stream", "aligned"]
Optimizer = Literal["sgd", "adamw", "muon"]
Schedule = Literal["paper", "trapezoid"]
Precision = Literal["auto", "float32", "bfloat16"]
Kernel = Literal["auto", "native", "torch"]
Model = Literal["lstm", "gru", "transformer", "universal"]

EPOCH = 500_000  # samples; the paper's memorization runs have 20 epochs
SMALLEST_RATE = 0.001  # paper: stop when the learning rate becomes smaller


LARGEST = 2**63 - 1  # of a whole number without a reason for a smaller bound
TINY = 1e-12  # the smallest number that is still above 0


def _flag(default: Any, text: str, low: float | None = None, high: float | None = None) -> Any:
    """A field with its help and, for a number, the smallest and the largest value."""
    return field(default=default, metadata={"help": text, "range": None if high is None else (low, high)})


@dataclass(frozen=True)
class Config:
    """A run; the defaults are the paper's."""

    task: str = _flag("program", "What to learn.")
    # The task knows the bounds of its difficulty.
    length: int = _flag(4, "The goal: digits per integer.", -LARGEST, LARGEST)
    nesting: int = _flag(1, "The goal: operations per program.", -LARGEST, LARGEST)
    dialect: Dialect | None = _flag(None, "Programs: released (default) or appendix.")
    layout: Layout | None = _flag(None, "Programs: loops on one line (default) or indented.")
    invert: bool | None = _flag(None, "Memorization: reverse the input.")
    double: bool | None = _flag(None, "Memorization: write the input twice.")
    scramble: int | None = _flag(None, "Permute the characters with this seed.", -LARGEST, LARGEST)

    strategy: str = _flag("combined", "Which difficulty a training sample has.")
    mix_share: float = _flag(0.2, "combined: the share of samples drawn by mix.", 0, 1)
    order: Order = _flag("length_first", "The climb: length first, or nesting first.")
    start: int = _flag(1, "The climb: the length of the first stair.", 1, 1_000)
    stride: int = _flag(1, "The climb: how much longer the next stair is.", 1, 1_000)
    trigger: Trigger = _flag("progress", "When to climb: no more progress, or the released code's rule.")
    advance_at: float = _flag(0.95, "Climb as soon as validation accuracy passes this.", 0, 1)
    patience: int = _flag(5, "Evaluations without progress before climbing (or decaying the rate) anyway.", 1, 10**9)
    rise: float = _flag(0.005, "What counts as progress of an accuracy.", 0, 1)

    feed: Feed = _flag("stream", "Endless rows cut into windows, or whole samples from a zero state.")
    window: int = _flag(50, "stream: characters per row and step.", 1, 10**6)
    batch: int = _flag(100, "Rows per step.", 1, 10**6)

    model: Model = _flag("lstm", "The kind of network.")
    layers: int = _flag(2, "Layers; universal: how often its block is applied.", 1, 100)
    cells: int = _flag(400, "Cells per layer; transformer, universal: the width.", 1, 65_536)
    heads: int = _flag(4, "transformer, universal: attention heads.", 1, 1_024)
    embedding: int = _flag(400, "Size of a character's embedding.", 1, 65_536)
    init: float = _flag(0.08, "Parameters start uniform within plus or minus this.", TINY, 1e3)
    forget_bias: float = _flag(0.0, "Added to the forget gates' bias at the start.", -1e3, 1e3)
    chrono: float = _flag(0.0, "Start cells with memories of 1 to this many characters; 0: all alike.", 0, 1e6)

    optimizer: Optimizer = _flag("sgd", "Plain SGD, AdamW, or Muon for the matrices and AdamW for the rest.")
    learning_rate: float = _flag(0.5, "The learning rate at its height.", TINY, 1e4)
    schedule: Schedule = _flag("paper", "paper: times 0.8 at the goal; trapezoid: warm-up, level, linear decay to 0.")
    warmup: int = _flag(0, "trapezoid: steps of warm-up.", 0, 10**12)
    decay: float = _flag(0.4, "trapezoid: the last part of the budget in which the rate falls to 0.", 0, 1)
    weight_decay: float = _flag(0.0, "AdamW, Muon: decoupled weight decay.", 0, 1e3)
    clip: float = _flag(5.0, "Largest norm of the gradient.", TINY, 1e12)

    evaluate_every: int = _flag(100, "Steps between evaluations.", 1, 10**9)
    evaluate_count: int = _flag(500, "Validation samples per evaluation.", 1, 10**6)
    checkpoint_every: int = _flag(1, "Evaluations between checkpoints.", 1, 10**9)
    test_count: int = _flag(2_000, "Test samples, scored once at the end.", 1, 10**7)

    steps: int | None = _flag(None, "Stop after this many steps.", 1, 10**15)
    samples: int | None = _flag(None, "Stop after this many samples.", 1, 10**15)
    characters: int | None = _flag(None, "Stop after this many characters.", 1, 10**15)
    minutes: float | None = _flag(None, "Stop after this much training time (not exactly repeatable).", TINY, 1e8)
    epochs: int | None = _flag(None, "Stop after this many epochs of 0.5 M samples; 0: no such limit.", 0, 10**9)

    precision: Precision = _flag("auto", "float32, or bfloat16 products; auto: what the device does well.")
    kernel: Kernel = _flag("auto", "On a CPU: the recurrence in C or in PyTorch; auto: C where a compiler is.")
    threads: int = _flag(0, "CPU threads; 0: all cores.", 0, 4_096)
    device: str = _flag("auto", "cpu, cuda, mps; auto: the best there is.")
    seed: int = _flag(0, "Seed of the model.", 0, LARGEST)
    data_seed: int = _flag(0, "Seed of the training samples.", 0, LARGEST)

    def __post_init__(self) -> None:
        for each in fields(self):
            _check_field(each.name, getattr(self, each.name), each.metadata["range"])
        check_difficulty(self.make_task(), self.goal)
        limits = (self.steps, self.samples, self.characters, self.minutes, self.epochs)
        if self.schedule == "trapezoid" and not any(limits):
            raise ExeclabError("schedule=trapezoid needs a limit: steps, samples, characters, minutes or epochs")

    @property
    def goal(self) -> Difficulty:
        """The difficulty being aimed at."""
        return Difficulty(self.length, self.nesting)

    def make_task(self) -> Task:
        """The task with its options."""
        options = {name: getattr(self, name) for name in ("dialect", "layout", "invert", "double")}
        return make_task(self.task, options)


def _check_field(name: str, value: object, limits: tuple[float, float] | None) -> None:
    """Raise unless a value has its field's kind and lies in its range: a stored Config may hold anything."""
    if value is None and name in _OPTIONAL:
        return
    kind, allowed = KINDS[name], choices(name)
    if not isinstance(value, (int, float) if kind is float else kind) or (kind is not bool and isinstance(value, bool)):
        raise ExeclabError(f"{name} is {repr(value)[:40]}; it must be {_KIND_NAMES[kind]}")
    if allowed and value not in allowed:
        raise unknown(name, value, allowed)
    if limits is None or not isinstance(value, int | float):
        return
    low, high = limits
    if not low <= value <= high:  # also refuses nan
        shown = f"{value:.6g}" if isinstance(value, float) else str(value)[:40]
        raise ExeclabError(f"{name} is {shown}; it must be {_in_words(low, high)}")


def _in_words(low: float, high: float) -> str:
    return f"above 0 and at most {high:,g}" if low == TINY else f"from {_short(low)} to {_short(high)}"


def _short(number: float) -> str:
    return f"{number:,}" if abs(number) < 10**16 else f"{number:.2e}"


KINDS: dict[str, type] = {}
_CHOICES: dict[str, tuple[str, ...]] = {"strategy": tuple(STRATEGIES)}
_KIND_NAMES = {int: "a whole number", float: "a number", str: "a word", bool: "true or false"}
_OPTIONAL: set[str] = set()  # fields that may be None
for _name, _hint in get_type_hints(Config).items():
    if type(None) in get_args(_hint):
        _OPTIONAL.add(_name)
    _parts = [part for part in (get_args(_hint) or (_hint,)) if part is not type(None)]
    if get_args(_parts[0]):  # Dialect | None
        _parts = list(get_args(_parts[0]))
    if isinstance(_parts[0], str):
        _CHOICES[_name] = tuple(_parts)
    KINDS[_name] = str if isinstance(_parts[0], str) else _parts[0]


def choices(name: str) -> tuple[str, ...]:
    """What a field may say, if that is a closed list."""
    return _CHOICES.get(name, ())


_LAPTOP = Config(
    feed="aligned",
    batch=32,
    cells=128,
    embedding=64,
    chrono=40.0,
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
        _LAPTOP, task="addition", length=9, start=2, advance_at=0.98, patience=30, samples=2_400_000, test_count=5_000
    ),
    # Seconds, for tests.
    "smoke": Config(
        task="addition",
        length=2,
        feed="aligned",
        batch=8,
        cells=16,
        embedding=8,
        optimizer="adamw",
        learning_rate=1e-2,
        schedule="trapezoid",
        clip=1.0,
        evaluate_every=10,
        evaluate_count=16,
        patience=1,
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
    """A preset with changes; `size` sets layers and widths of whichever model it is."""
    if preset not in PRESETS:
        raise unknown("preset", preset, PRESETS)
    if size is not None and size not in SIZES:
        raise unknown("size", size, SIZES)
    if strangers := sorted(changes.keys() - {f.name for f in fields(Config)}):
        raise unknown("setting", strangers[0], (f.name for f in fields(Config)))
    task = changes.get("task", PRESETS[preset].task)
    limits = ("steps", "samples", "characters", "minutes", "epochs")
    by_task = BY_TASK.get((preset, str(task)), {})
    base = {**asdict(PRESETS[preset]), **by_task}
    model = str(changes.get("model", PRESETS[preset].model))
    if size is None and model != PRESETS[preset].model:
        size = PRESET_SIZES.get(preset)
    base |= SIZES[size].get(model, {}) if size else {}
    if any(changes.get(limit) is not None for limit in limits):
        base |= dict.fromkeys(limits)  # a limit that is asked for replaces the preset's
    return Config(**{**base, **changes})
