"""Puts finished runs into the package, for the playground: python recipes/ship.py [--bfloat16] NAME=RUN ...

With --bfloat16 the weights are rounded to half their size, the rounded model is scored on the run's own test samples,
and that score is the one that is told; a model whose exact match falls below the interval of the whole one stays whole.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import torch

from execlab.training.checkpoints import from_bytes, to_bytes
from execlab.training.load import load
from execlab.training.report import final_score

MODELS = Path(__file__).parent.parent / "src" / "execlab" / "playground" / "models"
KEPT = (
    "teacher_forced_accuracy",
    "free_running_accuracy",
    "exact_match",
    "scoring",
    "chance",
    "most_frequent_character",
)


def rounded(run: Path, to: Path) -> dict[str, Any]:
    """Write the model with its weights in bfloat16, and score it where the whole one was scored."""
    tensors, about = from_bytes((run / "model.safetensors").read_bytes())
    to.write_bytes(to_bytes({name: tensor.to(torch.bfloat16) for name, tensor in tensors.items()}, about))
    model = load(to)
    return final_score(model.config, model.reader).as_dict()


def main() -> None:
    halve = "--bfloat16" in sys.argv
    for word in [word for word in sys.argv[1:] if not word.startswith("--")]:
        name, _, folder = word.partition("=")
        run, to = Path(folder), MODELS / f"{name}.safetensors"
        about = json.loads((run / "config.json").read_text())
        report = json.loads((run / "report.json").read_text())
        test = report["test"]
        if halve:
            test = rounded(run, to)
            whole, half = (found["exact_match"]["value"] for found in (report["test"], test))
            print(f"{name}: exact match {whole}, in bfloat16 {half}")
        if not halve or test["exact_match"]["value"] < report["test"]["exact_match"]["low"]:
            test = report["test"]
            shutil.copyfile(run / "model.safetensors", to)
        told = {
            "config": about["config"],
            "parameters": about["parameters"],
            "data_version": about["data_version"],
            "test": {key: test[key] for key in KEPT},
            "samples": report["counters"]["samples"],
            "seconds": round(report["counters"]["seconds"]),
            "versions": about["versions"],
            "commit": about["commit"],
        }
        (MODELS / f"{name}.json").write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
