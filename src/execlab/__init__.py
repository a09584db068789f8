"""execlab: a laboratory for teaching neural networks to execute programs.

>>> import execlab
>>> execlab.execute("print(398345+425098)")
823443
>>> execlab.generate("program", length=4, nesting=2, seed=1)
Sample(input='f=(705 if 8224>3628 else 6864);\\nprint((f+3643))', target='4348')
>>> execlab.create_dataset("addition", length=2, split="test", seed=0, size=3)[2]["question"]
'print(81+62)'

Names are fetched when they are first used, so importing execlab costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from execlab.answers import extract_answer
    from execlab.data.curriculum import Curriculum
    from execlab.data.dataset import Dataset, create_dataset, generate, score_answer
    from execlab.errors import ExeclabError
    from execlab.programs.interpreter import TraceStep, execute, trace
    from execlab.programs.syntax import ProgramError
    from execlab.registry import trust
    from execlab.tasks.task import Difficulty, Sample
    from execlab.training.config import Config, make_config
    from execlab.training.load import Executor, load
    from execlab.training.loop import resume, train

__version__ = "0.3.0"

_HOMES = {
    "Config": "execlab.training.config",
    "Curriculum": "execlab.data.curriculum",
    "Dataset": "execlab.data.dataset",
    "Difficulty": "execlab.tasks.task",
    "ExeclabError": "execlab.errors",
    "Executor": "execlab.training.load",
    "ProgramError": "execlab.programs.syntax",
    "Sample": "execlab.tasks.task",
    "TraceStep": "execlab.programs.interpreter",
    "create_dataset": "execlab.data.dataset",
    "execute": "execlab.programs.interpreter",
    "extract_answer": "execlab.answers",
    "generate": "execlab.data.dataset",
    "load": "execlab.training.load",
    "make_config": "execlab.training.config",
    "resume": "execlab.training.loop",
    "score_answer": "execlab.data.dataset",
    "trace": "execlab.programs.interpreter",
    "train": "execlab.training.loop",
    "trust": "execlab.registry",
}

__all__ = [
    "Config",
    "Curriculum",
    "Dataset",
    "Difficulty",
    "ExeclabError",
    "Executor",
    "ProgramError",
    "Sample",
    "TraceStep",
    "__version__",
    "create_dataset",
    "execute",
    "extract_answer",
    "generate",
    "load",
    "make_config",
    "resume",
    "score_answer",
    "trace",
    "train",
    "trust",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'execlab' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
