"""Puts finished runs into the package, for the playground: python recipes/ship.py [--bfloat16] NAME=RUN ...

With --bfloat16 the weights are rounded to half their size, the rounded model is scored on the run's own test samples,
and that score is published. A model whose exact match falls below the interval of the unrounded one is not rounded.
"""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from execlab.training.checkpoints import from_bytes, to_bytes
from execlab.training.load import load
from execlab.training.report import final_score, read_report
from execlab.training.runs import read_about

if TYPE_CHECKING:
    from execlab.evaluation.scorecard import Scorecard

MODELS = Path(__file__).parent.parent / "src" / "execlab" / "playground" / "models"
KEPT = (
    "teacher_forced_accuracy",
    "free_running_accuracy",
    "exact_match",
    "scoring",
    "chance",
    "most_frequent_character",
)


def rounded(run: Path, to: Path) -> Scorecard:
    """Write the model with its weights in bfloat16, and score it where the whole one was scored."""
    tensors, about = from_bytes((run / "model.safetensors").read_bytes())
    to.write_bytes(to_bytes({name: tensor.to(torch.bfloat16) for name, tensor in tensors.items()}, about))
    model = load(to)
    return final_score(model.config, model.reader).scorecard()


def main() -> None:
    in_bfloat16 = "--bfloat16" in sys.argv
    for word in [word for word in sys.argv[1:] if not word.startswith("--")]:
        name, _, folder = word.partition("=")
        run, to = Path(folder), MODELS / f"{name}.safetensors"
        about, report = read_about(run), read_report(run / "report.json")
        test = report.test
        if in_bfloat16:
            test = rounded(run, to)
            whole = report.test.scores.exact_match
            print(f"{name}: exact match {whole.value}, in bfloat16 {test.scores.exact_match.value}")
        if not in_bfloat16 or test.scores.exact_match.value < report.test.scores.exact_match.low:
            test = report.test
            shutil.copyfile(run / "model.safetensors", to)
        scores = test.to_json()
        described = {
            "config": asdict(about.config),
            "parameters": about.parameters,
            "data_version": about.data_version,
            "test": {key: scores[key] for key in KEPT},
            "samples": report.counters.samples,
            "seconds": round(report.counters.seconds),
            "versions": about.versions,
            "commit": about.commit,
        }
        (MODELS / f"{name}.json").write_text(json.dumps(described, indent=1) + "\n")


if __name__ == "__main__":
    main()
