"""A real server in a process of its own, with runs of its own."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from serving import Server, serving

from execlab.training.config import make_config
from execlab.training.loop import train

if TYPE_CHECKING:
    from collections.abc import Iterator


DEEP = "[" * 100_000
STRANGE = {
    "deep-metrics": ("metrics.jsonl", DEEP),
    "deep-report": ("report.json", DEEP),
    "deep-config": ("config.json", DEEP),
    "numbers": ("metrics.jsonl", '{"samples": NaN, "step": 1, "goal_teacher_forced_accuracy": Infinity}\n'),
    "list": ("report.json", "[]"),
}


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A finished run, a broken one, one behind a link, and a secret beside the folder."""
    folder = tmp_path_factory.mktemp("playground")
    runs, outside = folder / "runs", folder / "outside"
    train(make_config("smoke", task="addition", length=2), runs / "finished")
    train(make_config("smoke", task="addition", length=2, scramble=5), runs / "deep" / "scrambled")
    train(make_config("smoke"), outside / "hidden")
    (runs / "link").symlink_to(outside / "hidden", target_is_directory=True)
    (runs / "half").mkdir()
    for name in ("config.json", "metrics.jsonl"):
        (runs / "half" / name).symlink_to(outside / "hidden" / name)
    (runs / "broken").mkdir()
    (runs / "broken" / "config.json").write_text("{")
    (runs / "broken" / "report.json").write_text("{}")  # finished, or whoever follows it would wait for ever
    shutil.copytree(runs / "finished", runs / "damaged")
    (runs / "damaged" / "model.safetensors").write_bytes(b"no model")
    (folder / "secret.txt").write_text("the secret\n")
    for name, content in STRANGE.items():
        shutil.copytree(runs / "finished", runs / name)
        (runs / name / content[0]).write_text(content[1])
    shutil.copytree(runs / "finished", runs / "itself")
    (runs / "itself" / "metrics.jsonl").unlink()
    (runs / "itself" / "metrics.jsonl").symlink_to("metrics.jsonl")
    shutil.copytree(runs / "finished", Path(os.fsdecode(os.fsencode(runs) + b"/\xff")))
    (runs / "grid").mkdir()
    (runs / "grid" / "results.jsonl").write_text(
        '{"experiment": "addition", "strategy": "mix", "length": 2, "nesting": 1, "teacher_forced_accuracy": 0.5}\n'
        '{"experiment": "addition", "strategy": "naive", "length": 2, "nesting": 1, "teacher_forced_accuracy": NaN}\n'
        f'{DEEP}\n{{"experiment": "\\ud800"}}\nno'
    )
    with (folder / "said.txt").open("w") as errors, serving("--runs", str(runs), runs=runs, stderr=errors) as found:
        yield found
        assert found.process.poll() is None, (folder / "said.txt").read_text()  # nothing that was done to it ended it
    assert "Traceback" not in (folder / "said.txt").read_text()
