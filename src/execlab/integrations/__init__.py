"""Other people's harnesses: a file each, none imported unless asked for.

>>> sorted(INTEGRATIONS)
['hugging-face', 'inspect-ai', 'lm-eval', 'openenv', 'reasoning-gym', 'trl', 'verifiers']
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from execlab.errors import MissingPackageError, unknown


class Integration(NamedTuple):
    """A harness: the module that it needs, and what a user does."""

    module: str
    use: str


INTEGRATIONS: dict[str, Integration] = {
    "inspect-ai": Integration("inspect_ai", "inspect eval execlab/program -T length=4 -T nesting=2 --model MODEL"),
    "lm-eval": Integration(
        "lm_eval", "lm_eval --include_path $(execlab integrations lm-eval) --tasks execlab_program --model MODEL"
    ),
    "verifiers": Integration("verifiers", "vf-eval execlab-verifiers --env.taskset.split test -m MODEL"),
    "reasoning-gym": Integration(
        "reasoning_gym", "from execlab.integrations.reasoning_gym import register; register()"
    ),
    "trl": Integration("trl", "from execlab.integrations.trl import dataset, reward"),
    "openenv": Integration("openenv", "from execlab.integrations.openenv import ExeclabEnvironment"),
    "hugging-face": Integration("huggingface_hub", "from execlab.integrations.hugging_face import from_pretrained"),
}


def need(name: str) -> None:
    """A sentence instead of a traceback where a harness is not installed."""
    if name not in INTEGRATIONS:
        raise unknown("integration", name, INTEGRATIONS)
    if find_spec(INTEGRATIONS[name].module) is None:
        raise MissingPackageError(f"this needs {name}, which is not installed: pip install 'execlab[{name}]'")


def lm_eval_folder() -> Path:
    """The folder with the YAML files that lm-eval reads."""
    return Path(__file__).parent / "lm_eval_tasks"
