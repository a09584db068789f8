"""Bad names, bad import paths, bad options and classes that break their contract: one sentence each, status 2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from execlab import registry
from execlab.errors import ExeclabError
from execlab.experiments import make_grid
from execlab.training import loop
from execlab.training.config import make_config

if TYPE_CHECKING:
    from pathlib import Path

    from forking import Shell

MODULES = {  # that cannot be imported
    "needing": "import numpyy",
    "halfdone": "def model(:",
    "angry": "value = 1\nraise ValueError('not now')",
    "leaving": "import sys\nsys.exit(3)",
}
MALFORMED = "is not an import path; write package.module:Name"
BROKEN = "does not keep its contract: "

NAMES: list[tuple[dict[str, Any], str]] = [
    ({"model": "gpt"}, "there is no model 'gpt'; choose lstm, gru, transformer, universal, or an import path"),
    ({"strategy": "luck"}, "there is no strategy 'luck'; choose baseline, naive, mix, combined, online"),
    ({"task": "sorting"}, "there is no task 'sorting'; choose program, addition, memorization, or an import path"),
    ({"model": "mylab.models"}, "there is no model 'mylab.models'"),
    *(
        ({"model": path}, f"{path!r} {MALFORMED}")
        for path in ("mylab.models:", ":Tiny", "mylab/models.py:Tiny", "mylab.models:Tiny()", "a:b:c", "my lab:Tiny")
    ),
    ({"model": "nolab:Tiny"}, "the model nolab:Tiny cannot be imported: there is no module 'nolab'"),
    ({"task": "mylab.nowhere:Maximum"}, "there is no module 'mylab.nowhere'"),
    ({"model": "needing:Model"}, "there is no module 'numpyy'"),
    ({"model": "halfdone:Model"}, "importing the model halfdone:Model failed: SyntaxError: invalid syntax"),
    ({"strategy": "angry:Luck"}, "importing the strategy angry:Luck failed: ValueError: not now (angry.py, line 2)"),
    ({"strategy": "leaving:Luck"}, "importing the strategy leaving:Luck failed: SystemExit: 3"),
    ({"model": "mylab.models:Small"}, "the module mylab.models has no 'Small'"),
    ({"model": "os:sep"}, "os:sep is not a model: it is of type str, and must be a class"),
    ({"model": "os:system"}, "os:system is not a model: it is of type builtin_function_or_method"),
    ({"model": "mylab.tasks:Maximum"}, "mylab.tasks:Maximum is not a model: it has no Options, carries_state"),
    ({"task": "mylab.teachers:Bandit"}, "mylab.teachers:Bandit is not a task: it has no name, hardest"),
    ({"strategy": "mylab.models:Tiny"}, "mylab.models:Tiny is not a strategy: it has no draw, probes"),
]
OPTIONS: list[tuple[dict[str, Any], str]] = [
    ({"model": "gru", "heads": 4}, "the model gru has no option 'heads'; its options are layers, cells"),
    ({"model": "mylab.models:Tiny", "cells": 8}, "mylab.models:Tiny has no option 'cells'; its options are units"),
    ({"model": "mylab.models:Tiny", "deep": 3}, "there is no setting 'deep'; "),
    ({"model": "mylab.models:Tiny", "units": 0}, "units is 0; it must be from 1 to 4,096"),
    ({"model": "mylab.models:Tiny", "units": "many"}, "units is 'many'; it must be a whole number"),
    ({"strategy": "mylab.teachers:Bandit", "explore": 1.5}, "explore is 1.5; it must be from 0 to 1"),
    ({"task": "mylab.tasks:Maximum", "smallest": 2}, "smallest is 2; it must be true or false"),
    ({"task": "mylab.tasks:Maximum", "length": 10}, "length is 10 for the task maximum, but it must be from 1 to 9"),
]
TASKS: dict[str, str] = {
    "Lazy": "wronglab.tasks:Lazy is not a task: it does not define draw",
    "Nameless": "wronglab.tasks:Nameless is not a task: it has no name, hardest",
    "Pairs": BROKEN + "draw and render must give a Sample, not a tuple",
    "Liar": "but solve says",
    "Foreign": BROKEN + "it writes '?', which is in neither the vocabulary nor its symbols",
    "Accented": "the symbol 'é' of the task is not a printable ASCII character",
    "Pointed": BROKEN + "it writes '.', which is the end mark",
    "Wordy": BROKEN + "it has a target with 'b', which is not in its outputs",
    "Forgetful": BROKEN + "plain gives ",
    "Fickle": BROKEN + "draw gives another sample for the same rng and difficulty",
    "Grouped": BROKEN + "its group 'digits' is '",
    "Failing": BROKEN + "ZeroDivisionError: division by zero (tasks.py, line ",
    "Refusing": BROKEN + "ValueError: not today (tasks.py, line ",
    "Listed": "the option sizes of wronglab.tasks:Listed is (1, 2); an option is a number or a word",
}
STRATEGIES: dict[str, str] = {
    "Undrawn": "wronglab.teachers:Undrawn is not a strategy: it does not define draw",
    "TooHard": BROKEN + "length is 102 for the task addition, but it must be from 1 to 50",
    "Plain": BROKEN + "it names the difficulty (1, 1), which is not a Difficulty",
    "TooEasy": BROKEN + "length is 0 for the task addition, but it must be from 1 to 50",
    "Endless": BROKEN + "the last one of its difficulties must be the goal",
    "Counting": BROKEN + "draw gives other difficulties for the same rng; only observe may change its state",
    "Watching": BROKEN + "it draws other difficulties after load_state_dict; state_dict must hold its whole state",
    "Saving": BROKEN + "TypeError: Object of type set is not JSON serializable",
    "Numbered": BROKEN + "KeyError: 1 (teachers.py, line ",
    "Shouting": BROKEN + 'observe gives \'up\'; it must be "climb", "decay" or None',
    "Refusing": BROKEN + "KeyError: 'start' (teachers.py, line ",
    "Asking": BROKEN + "KeyError: Difficulty(length=3, nesting=1) (teachers.py, line ",
    "LateTooHard": "length is 60 for the task addition, but it must be from 1 to 50",
}
MODELS: dict[str, str] = {
    "Mute": "wronglab.models:Mute is not a model: it does not define activations, forward, logits, select, start",
    "Bare": "wronglab.models:Bare is not a model: it has no Options",
    "Module": "wronglab.models:Module is not a model: it has no Options, carries_state",
    "Loose": "wronglab.models:Loose is not a model: its Options is not a dataclass",
    "Demanding": BROKEN + "TypeError: Demanding.Options.__init__() missing 1 required positional argument: 'units'",
    "Refusing": BROKEN + "RuntimeError: out of patience (models.py, line ",
    "Signature": BROKEN + "TypeError: Signature.__init__() takes 2 positional arguments but 3 were given",
    "Squeezed": BROKEN + "its logits for 12 characters have the shape (12, 40); it must be (12, 41)",
    "Unpacked": BROKEN + "a batch gives other features than its rows one by one",
    "InPlace": BROKEN + "forward changes the state that it is given",
    "Unselected": BROKEN + "reading on from a selected state gives other features than reading at once",
    "Flat": BROKEN + "its activations 'units' have the shape (4, 64); it must be (rows, layers, units)",
    "Idle": BROKEN + "no gradient reaches its parameter 'spare.weight'; use it, or set requires_grad to False",
    "Random": BROKEN + "initialize gives another 'embedding.weight' for the same seed",
    "Complex": "has the tensor 'angles' of type torch.complex64, which a file of weights cannot hold",
    "Uncounted": BROKEN + "flops_per_character is 'many'; it must be a number",
}
STREAMS: dict[str, str] = {
    "Aligned": "the model wronglab.models:Aligned reads whole samples, not an endless stream: say --feed aligned",
    "Nested": BROKEN + "NotImplementedError: Nested has a state that is not one tensor, and no pack_state",
}
CASES: list[tuple[dict[str, Any], str]] = [
    *NAMES,
    *OPTIONS,
    *(({"task": f"wronglab.tasks:{name}"}, sentence) for name, sentence in TASKS.items()),
    *(({"strategy": f"wronglab.teachers:{name}"}, sentence) for name, sentence in STRATEGIES.items()),
    *(({"model": f"wronglab.models:{name}"}, sentence) for name, sentence in MODELS.items()),
    *(({"model": f"wronglab.models:{name}", "feed": "stream"}, sentence) for name, sentence in STREAMS.items()),
]
every_case = pytest.mark.parametrize(
    ("settings", "sentence"), CASES, ids=[" ".join(map(str, settings.values())) for settings, _ in CASES]
)
FLAGS = ("task", "strategy", "model", "feed", "length", "cells", "heads")  # other settings go by --option


@pytest.fixture(scope="module", autouse=True)
def modules(folder: Path) -> None:
    """Modules that cannot be imported, beside the packages."""
    for name, text in MODULES.items():
        (folder / f"{name}.py").write_text(text)


def flags(settings: dict[str, Any]) -> list[str]:
    words = []
    for name, value in settings.items():
        words += [f"--{name}", str(value)] if name in FLAGS else ["--option", f"{name}={value}"]
    return words


@every_case
def test_the_command_line_says_one_sentence(
    settings: dict[str, Any], sentence: str, execlab: Shell, tmp_path: Path
) -> None:
    done = execlab("train", "--preset", "smoke", "--steps", "130", *flags(settings), "--out", str(tmp_path / "run"))
    assert sentence in done.err
    late = "Late" in str(settings)  # such a run has begun
    assert (tmp_path / "run").exists() == late
    last = done._replace(err=done.err.splitlines(keepends=True)[-1]) if late else done
    assert sentence in last.sentence
    assert done.out == ""


@pytest.mark.usefixtures("imports")
@every_case
def test_python_raises_one_sentence(settings: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    with pytest.raises(ExeclabError) as error:
        loop.train(make_config("smoke", steps=130, evaluate_count=1, **settings), tmp_path / "run")
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("--strategy wronglab.teachers:LateFailing", "LateFailing failed: ZeroDivisionError: "),
        ("--model wronglab.models:Later", "wronglab.models:Later failed: RuntimeError: too many characters (models.py"),
        ("--option units", "--option 'units' is not of the form NAME=VALUE"),
        ("--option 2units=3", "--option '2units=3' is not of the form NAME=VALUE"),
        ("--trust mylab.models:", "'mylab.models:' is not an import path; write package.module:Name, or a package"),
    ],
)
def test_what_only_the_command_line_makes_a_sentence(words: str, sentence: str, execlab: Shell, tmp_path: Path) -> None:
    """In Python, code of one's own that fails while it learns raises its own error, with its own traceback."""
    done = execlab("train", "--preset", "smoke", "--steps", "130", *words.split(), "--out", str(tmp_path / "run"))
    last = done._replace(err=done.err.splitlines(keepends=True)[-1])
    assert sentence in last.sentence
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("fractions", "there is no experiment 'fractions'; choose programs, addition"),
        ("mylab.experiments:", MALFORMED),
        ("nolab:EXPERIMENT", "the experiment nolab:EXPERIMENT cannot be imported: there is no module 'nolab'"),
        ("mylab.experiments:MINE", "the module mylab.experiments has no 'MINE'"),
        ("mylab.experiments:grid", "is not an experiment: it is of type function, and must be of type Experiment"),
    ],
)
@pytest.mark.usefixtures("imports")
def test_experiments(name: str, sentence: str, execlab: Shell) -> None:
    assert sentence in execlab("reproduce", name, "--scale", "smoke").sentence
    if registry.is_path(name) and not name.endswith(":"):
        registry.trust(name)
    with pytest.raises(ExeclabError) as error:
        make_grid(name, "smoke")
    assert sentence in str(error.value)


@pytest.mark.parametrize("command", ["sample", "stats", "audit", "export"])
def test_commands_that_need_no_network(command: str, execlab: Shell) -> None:
    out = ["--out", "data"] if command == "export" else []
    for name, sentence in (("sorting", "there is no task"), ("wronglab.tasks:Refusing", "ValueError: not today")):
        assert sentence in execlab(command, "--task", name, *out).sentence
    assert "ZeroDivisionError" in execlab("audit", "--task", "wronglab.tasks:Failing", "--length", "3").sentence
