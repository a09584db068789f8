"""Puts finished runs into the package, for the playground: python recipes/ship.py NAME=RUN ..."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

MODELS = Path(__file__).parent.parent / "src" / "execlab" / "playground" / "models"
KEPT = ("teacher_forced_accuracy", "free_running_accuracy", "exact_match", "chance", "most_frequent_character")


def main() -> None:
    for word in sys.argv[1:]:
        name, _, run = word.partition("=")
        about = json.loads((Path(run) / "config.json").read_text())
        report = json.loads((Path(run) / "report.json").read_text())
        told = {
            "config": about["config"],
            "parameters": about["parameters"],
            "test": {key: report["test"][key] for key in KEPT},
            "samples": report["counters"]["samples"],
            "seconds": round(report["counters"]["seconds"]),
            "versions": about["versions"],
            "commit": about["commit"],
        }
        shutil.copyfile(Path(run) / "model.safetensors", MODELS / f"{name}.safetensors")
        (MODELS / f"{name}.json").write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
