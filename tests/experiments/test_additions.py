"""A strategy, a model, a task and an experiment that are added to their registries change nothing that is published:
no grid, no figure, no page, no filled document."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
RESULTS = ("addition", "programs")
ADDED = """
from dataclasses import dataclass, replace
from execlab.curriculum import STRATEGIES
from execlab.curriculum.paper import Mix
from execlab.experiments import EXPERIMENTS, addition
from execlab.models import MODELS, OPTIONS
from execlab.models.options import GRUOptions
from execlab.options import option
from execlab.tasks import TASKS
from execlab.tasks.addition import AdditionTask

@dataclass
class AddedStrategy(Mix):
    haste: float = option(0.5, "An option of its own.", 0, 1)

@dataclass(frozen=True)
class AddedOptions(GRUOptions):
    depth: int = option(3, "An option of its own.", 1, 9)

@dataclass(frozen=True)
class AddedTask(AdditionTask):
    name = "added"
    base: int = option(10, "An option of its own.", 2, 10)

STRATEGIES["added"], TASKS["added"] = AddedStrategy, AddedTask
MODELS["added"], OPTIONS["added"] = MODELS["gru"], AddedOptions
EXPERIMENTS["added"] = replace(addition.EXPERIMENT, name="added")
"""
PUBLISH = """
import hashlib, json, sys
from dataclasses import asdict
from pathlib import Path
from execlab.experiments import EXPERIMENTS, SCALES, make_grid
from execlab.experiments.publish.blocks import fill
from execlab.experiments.publish.page import write_page

def digest(data):
    return hashlib.sha256(data).hexdigest()

published = {
    f"{name} {scale}": [[planned.name, asdict(planned.config)] for planned in make_grid(name, scale)]
    for name in EXPERIMENTS if name != "added" for scale in SCALES
}
for folder in sorted(Path(sys.argv[1]).iterdir()):
    write_page(folder)
    for path in sorted((folder / "figures").iterdir()) + [folder / "report.html"]:
        published[f"{folder.name} {path.name}"] = digest(path.read_bytes())
root = Path(sys.argv[2])
for name in ("README.md", "docs/results.md"):
    published[name] = digest(fill(root / name, root / "results").encode())
print(json.dumps(published))
"""


def published(before: str, folder: Path) -> dict[str, object]:
    """What a new process publishes after some first statements."""
    for name in RESULTS:
        shutil.copytree(ROOT / "results" / name, folder / name, ignore=shutil.ignore_patterns("figures"))
    words = [sys.executable, "-c", f"{before}\n{PUBLISH}", str(folder), str(ROOT)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    everything: dict[str, object] = json.loads(done.stdout)
    return everything


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    return published("", tmp_path_factory.mktemp("untouched"))


def test_additions_change_nothing_published(untouched: dict[str, object], tmp_path: Path) -> None:
    changed = published(ADDED, tmp_path)
    assert changed.keys() == untouched.keys()
    assert [name for name in changed if changed[name] != untouched[name]] == []
    assert {"addition addition.svg", "programs report.html", "README.md", "docs/results.md"} <= changed.keys()
    assert len(changed["addition laptop"]) == 5 * 4 * 3  # type: ignore[arg-type]


LONGER_GRID = "from execlab.experiments import addition; addition.STRATEGIES += ('mix',)"
MARK_AND_CLAIMS = """
from dataclasses import replace
from execlab.experiments import EXPERIMENTS
from execlab.experiments.publish import drawing
drawing.MARKS["added"] = ("red", "o", "-")
EXPERIMENTS["addition"] = replace(EXPERIMENTS["addition"], claims=EXPERIMENTS["addition"].claims[1:])
"""


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        (LONGER_GRID, ["addition laptop"]),
        (MARK_AND_CLAIMS, ["addition addition.svg", "addition report.html", "docs/results.md"]),
    ],
    ids=["grid", "figure and claims"],
)
def test_a_change_would_be_noticed(change: str, shown: list[str], untouched: dict[str, object], tmp_path: Path) -> None:
    """What the test above compares does depend on the strategies and claims that an experiment names."""
    changed = published(change, tmp_path)
    assert [name for name in shown if changed[name] == untouched[name]] == []
