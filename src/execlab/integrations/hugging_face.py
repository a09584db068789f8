"""Hugging Face: a trained network as a folder or a repository of the hub, in safetensors and JSON.

`save_pretrained(run, folder)` writes it, `push_to_hub(run, "me/adder")` uploads it, `from_pretrained` loads either.
What is loaded is checked as every file of unknown origin: nothing is unpickled, nothing imported unless trusted.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from execlab.errors import ExeclabError
from execlab.files import read_regular, write_atomically
from execlab.integrations import need
from execlab.training.checkpoints import LARGEST
from execlab.training.load import Executor, load
from execlab.training.weights import save_model

if TYPE_CHECKING:
    from collections.abc import Sequence

WEIGHTS, ABOUT, CARD = "model.safetensors", "config.json", "README.md"


def save_pretrained(model: str | Path | Executor, folder: str | Path, *, force: bool = False) -> Path:
    """Write a run's model to a folder: weights, Config and card."""
    executor = model if isinstance(model, Executor) else load(model)
    where = Path(folder)
    if not force and (taken := [name for name in (WEIGHTS, ABOUT, CARD) if (where / name).exists()]):
        raise ExeclabError(f"{where / taken[0]} exists already; choose another folder, or force=True")
    where.mkdir(parents=True, exist_ok=True)
    save_model(where, executor.config, executor.reader.model)
    about = {"model_type": "execlab", "library_name": "execlab", "config": _plain(executor)}
    write_atomically(where / ABOUT, (json.dumps(about, indent=2) + "\n").encode(), root=where)
    write_atomically(where / CARD, model_card(executor).encode(), root=where)
    return where


def from_pretrained(name: str | Path, *, revision: str | None = None, trust: Sequence[str] = ()) -> Executor:
    """The model of a folder, or of a repository of the hub, which is asked only if there is no such folder."""
    where = Path(name)
    if where.is_dir():
        weights = where / WEIGHTS
    else:
        need("hugging-face")
        from huggingface_hub import hf_hub_download
        from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

        try:
            weights = Path(hf_hub_download(str(name), WEIGHTS, revision=revision))
        except (HFValidationError, LocalEntryNotFoundError, HfHubHTTPError, OSError) as error:
            reason = str(error).strip().split("\n", 1)[0][:200]
            raise ExeclabError(f"there is no folder {name}, and the hub does not give such a model: {reason}") from None
    if not weights.is_file():
        raise ExeclabError(f"there is no {WEIGHTS} in {where}")
    return load(weights, trust=trust)


def push_to_hub(model: str | Path | Executor, repository: str, *, private: bool = False) -> str:
    """Upload a run's model with its card; gives the address. The token is that of `huggingface-cli login`."""
    need("hugging-face")
    from tempfile import TemporaryDirectory

    from huggingface_hub import HfApi

    api = HfApi()
    with TemporaryDirectory() as folder:
        save_pretrained(model, folder)
        api.create_repo(repository, private=private, exist_ok=True)
        done = api.upload_folder(repo_id=repository, folder_path=folder, commit_message="Upload a model of execlab")
    return str(done)


def model_card(executor: Executor) -> str:
    """The card: YAML for the hub, and a page for people. Accuracies are those of the run's own report."""
    config = executor.config
    tested = _tested(executor.where)
    results = "".join(
        f"| {name.replace('_', ' ')} | {each['value']:.2%} | {each['low']:.2%} to {each['high']:.2%} | {each['n']:,} "
        "|\n"
        for name, each in tested.items()
    )
    table = f"\n| On the test split | | 95 % interval | n |\n|---|---|---|---|\n{results}" if results else ""
    difficulty = config.make_task().describe(config.goal)
    return f"""---
library_name: execlab
license: apache-2.0
tags:
- learning-to-execute
- {config.model}
---

# execlab {config.task}, {difficulty}

A {config.model} that reads inputs of the task *{config.task}* character by character and prints the output, trained
with execlab by the strategy *{config.strategy}*, seed {config.seed}.
{table}
```python
from execlab.integrations.hugging_face import from_pretrained

executor = from_pretrained("this repository, or a folder")
print(executor.predict({json.dumps(_example(executor))}).prediction)
```
"""


def _plain(executor: Executor) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(executor.config)


def _example(executor: Executor) -> str:
    from execlab.data.sampling import Source

    config = executor.config
    return Source(config.make_task(), config.goal, "test").row(0).sample.input


def _tested(where: Path) -> dict[str, Any]:
    """The accuracies on the test split that stand beside a model, if any."""
    report = where / "report.json" if where.is_dir() else where.with_suffix(".json")
    try:
        about = json.loads(read_regular(report, LARGEST))
        return {name: score for name, score in about["test"].items() if isinstance(score, dict) and "low" in score}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
