"""A strategy, a model or a task that is added to its registry changes no grid and no figure that exists."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
RESULTS = ("addition", "programs")
ADDITIONS = {
    "strategy": "from execlab.curriculum import STRATEGIES; STRATEGIES['added'] = STRATEGIES['mix']",
    "model": "from execlab.models import MODELS; MODELS['added'] = MODELS['lstm']",
    "task": "from execlab.tasks import TASKS; TASKS['added'] = TASKS['addition']",
}
PUBLISH = """
import hashlib, json, sys
from dataclasses import asdict
from pathlib import Path
from execlab.experiments import EXPERIMENTS, SCALES, make_grid
from execlab.experiments.publish.page import write_page

published = {
    f"{name} {scale}": [[planned.name, asdict(planned.config)] for planned in make_grid(name, scale)]
    for name in EXPERIMENTS for scale in SCALES
}
for folder in sorted(Path(sys.argv[1]).iterdir()):
    write_page(folder)
    for path in sorted((folder / "figures").iterdir()) + [folder / "report.html"]:
        published[f"{folder.name} {path.name}"] = hashlib.sha256(path.read_bytes()).hexdigest()
print(json.dumps(published))
"""


def published(before: str, folder: Path) -> dict[str, object]:
    """All grids and the figures and pages of committed results, made by a new process after some first statements."""
    for name in RESULTS:
        shutil.copytree(ROOT / "results" / name, folder / name, ignore=shutil.ignore_patterns("figures"))
    words = [sys.executable, "-c", f"{before}\n{PUBLISH}", str(folder)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    return published("", tmp_path_factory.mktemp("untouched"))


@pytest.mark.parametrize("kind", ADDITIONS)
def test_an_addition_changes_nothing_published(kind: str, untouched: dict[str, object], tmp_path: Path) -> None:
    changed = published(ADDITIONS[kind], tmp_path)
    assert changed.keys() == untouched.keys()
    assert [name for name in changed if changed[name] != untouched[name]] == []
    assert "addition addition.svg" in changed
    assert len(changed["addition laptop"]) == 5 * 4 * 3  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        ("from execlab.experiments import addition; addition.STRATEGIES += ('mix',)", "addition laptop"),
        (
            "from execlab.experiments.publish import drawing; drawing.MARKS['added'] = ('red', 'o', '-')",
            "addition addition.svg",
        ),
    ],
    ids=["grid", "figure"],
)
def test_a_change_would_be_noticed(change: str, shown: str, untouched: dict[str, object], tmp_path: Path) -> None:
    """What the test above compares does depend on the strategies that a grid and a figure name."""
    assert published(change, tmp_path)[shown] != untouched[shown]
