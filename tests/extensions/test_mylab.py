"""A package outside execlab with a model, a strategy, a task and an experiment, as its user would use it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from serving import get, post, serving

if TYPE_CHECKING:
    from forking import Shell

EXECLAB = Path(sys.executable).with_name("execlab")  # the script, which does not look into the folder it is started in
PARTS = ("--model", "mylab.models:Tiny", "--strategy", "mylab.teachers:Bandit", "--task", "mylab.tasks:Maximum")
TRAIN = ("train", "--preset", "smoke", "--length", "3", "--nesting", "2", *PARTS)
TRUST = ("--trust", "mylab")
ARE_CODE = "mylab.tasks:Maximum, mylab.teachers:Bandit, mylab.models:Tiny are code outside execlab"
LONGER = ("--steps", "240", "--test-count", "20", "--evaluate-count", "8")


def start(folder: Path, *words: str) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen([EXECLAB, *words], stdout=pipe, stderr=pipe, text=True, cwd=folder)


def metrics(run: Path) -> list[dict[str, Any]]:
    """All but the seconds."""
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [{key: value for key, value in line.items() if key != "seconds"} for line in lines]


def checkpoints(run: Path) -> list[str]:
    return sorted(path.name for path in run.glob("checkpoints/step-*.safetensors"))


@pytest.fixture(scope="module")
def runs(execlab: Shell) -> Path:
    """A whole run, and one that was killed in the middle and resumed, by real commands."""
    folder = execlab.folder
    killed = start(folder, *TRAIN, *LONGER, "--out", "runs/killed")
    while killed.poll() is None and not any(name >= "step-000000080" for name in checkpoints(folder / "runs/killed")):
        time.sleep(0.002)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert killed.returncode == -signal.SIGKILL
    assert ARE_CODE in execlab("train", "--resume", "runs/killed").sentence
    resumed = start(folder, "train", "--resume", "runs/killed", *TRUST)
    execlab.works(*TRAIN, *LONGER, "--out", "runs/whole")
    printed = resumed.communicate()[1]
    assert resumed.returncode == 0, printed
    assert "resuming runs/killed from step " in printed
    assert "from step 0\n" not in printed
    return folder / "runs"


def test_a_killed_run_ends_in_the_same_bits(runs: Path) -> None:
    whole, killed = runs / "whole", runs / "killed"
    assert (killed / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes()
    assert metrics(killed) == metrics(whole)
    assert [line["step"] for line in metrics(whole)] == list(range(10, 241, 10))
    shares = [{tuple(entry[:2]): entry[2] for entry in line["distribution"]} for line in metrics(whole)]
    assert (
        len({max(share, key=lambda each: share[each]) for share in shares}) > 1
    )  # the bandit went from one to another


def test_evaluate_compare_and_predict(runs: Path, execlab: Shell) -> None:
    scored = json.loads(execlab.works("evaluate", "runs/whole", "--count", "50", "--json", *TRUST))
    assert scored["task"] == "mylab.tasks:Maximum"
    assert list(scored["by_numbers"]) == ["3"]
    assert scored["by_numbers"]["3"] == scored["exact_match"]
    short = (*TRAIN, "--steps", "60", "--test-count", "20", "--evaluate-count", "8", "--seed", "1")
    execlab.works(*short, "--out", "runs/other")
    words = ("runs/whole", "runs/killed", "runs/other")
    _, same, other = json.loads(execlab.works("compare", *words, "--count", "200", "--json", *TRUST))
    assert same["teacher_forced_difference"]["value"] == 0
    assert other["teacher_forced_difference"]["value"] != 0
    answer = json.loads(execlab.works("predict", "runs/whole", "max(38,7,61)", "--json", *TRUST))
    assert answer["target"] == "61"
    assert execlab("predict", "runs/whole", "max(38,7,61", *TRUST).sentence.endswith("is not of the form max(38,7,61)")
    assert "wrote curves.png" in execlab.works("curve", "runs/whole", "runs/other", "--out", "curves.png", *TRUST)
    assert (runs.parent / "curves.png").stat().st_size > 1000


def test_samples_audit_and_export(execlab: Shell) -> None:
    task = ("--task", "mylab.tasks:Maximum", "--length", "3", "--nesting", "2")
    printed = execlab.works("sample", *task, "--count", "40", "--jsonl")
    assert printed == execlab.works("sample", *task, "--count", "40", "--jsonl")
    rows = [json.loads(line) for line in printed.splitlines()]
    for row in rows:
        numbers = [int(number) for number in row["input"][4:-1].split(",")]
        assert (len(numbers), row["target"]) == (3, str(max(numbers)))
    smallest = execlab.works("sample", *task, "--option", "smallest=true", "--count", "1", "--jsonl")
    assert json.loads(smallest)["input"].startswith("min(")
    assert json.loads(execlab.works("audit", *task, "--count", "300", "--json"))["passed"] is True
    execlab.works("export", *task, "--count", "40", "--out", "data")
    exported = (execlab.folder / "data" / "train.jsonl").read_text().splitlines()
    assert [json.loads(line)["input"] for line in exported] == [row["input"] for row in rows]


GRID = """
from execlab.experiments.run.reproduce import run_experiment

rows = run_experiment("mylab.experiments:EXPERIMENT", "grid", "smoke", seeds=1, workers=2)
print(len(rows), "runs")
"""


def test_a_grid_from_python(execlab: Shell) -> None:
    """docs/extending.md makes one with a command."""
    done = execlab.python(GRID)
    assert (done.status, done.out) == (0, "2 runs\n"), done
    rows = [json.loads(line) for line in (execlab.folder / "grid" / "results.jsonl").read_text().splitlines()]
    assert [row["task"] for row in rows] == ["mylab.tasks:Maximum"] * 2
    assert [row["strategy"] for row in rows] == ["combined", "mylab.teachers:Bandit"]
    assert all(4_000 <= row["characters"] < 4_400 for row in rows)
    page = execlab.folder / "grid" / "report.html"
    assert "the bandit is above combined" in page.read_text()
    execlab.works("report", "grid")  # needs no trust: a claim that would have to be imported is left out
    assert "the bandit is above combined" not in page.read_text()
    assert ARE_CODE.split(",", 1)[0] in execlab("recheck", "grid").sentence


LOUD = """
from pathlib import Path
from mylab.models import Tiny
from mylab.tasks import Maximum
from mylab.teachers import Bandit

Path("imported").touch()
"""


@pytest.fixture(scope="module")
def trace(execlab: Shell, runs: Path) -> Path:
    """What a module leaves behind when it is imported; runs/loud is a run with classes of that module."""
    (execlab.folder / "loud.py").write_text(LOUD)
    parts = ("--model", "loud:Tiny", "--strategy", "loud:Bandit", "--task", "loud:Maximum")
    execlab.works("train", "--preset", "smoke", "--steps", "10", *parts, "--out", str(runs / "loud"))
    imported = execlab.folder / "imported"
    imported.unlink()
    return imported


@pytest.mark.parametrize(
    "words",
    [
        ("evaluate", "runs/loud"),
        ("predict", "runs/loud", "max(1,2)"),
        ("predict", "runs/loud/model.safetensors", "max(1,2)"),
        ("compare", "runs/loud", "runs/loud"),
        ("curve", "runs/loud"),
        ("train", "--resume", "runs/loud"),
        ("train", "--config", "runs/loud/config.json", "--out", "runs/again"),
    ],
    ids=" ".join,
)
def test_nothing_is_imported_unless_it_is_named(words: tuple[str, ...], trace: Path, execlab: Shell) -> None:
    for some in ((), ("--trust", "lou"), ("--trust", "loude"), ("--trust", "mylab")):
        sentence = execlab(*words, *some).sentence
        assert sentence.startswith("loud:Maximum, loud:Bandit, loud:Tiny are code outside execlab")
    execlab(*words, "--trust", "loud:Tiny").sentence  # noqa: B018 - it is one
    assert not trace.exists()


def test_what_is_named_is_imported(trace: Path, execlab: Shell) -> None:
    """So that the test above can fail."""
    execlab.works("predict", "runs/loud", "max(1,2)", "--trust", "loud")
    trace.unlink()


def test_the_playground(runs: Path, trace: Path) -> None:
    """The real server, asked for samples, the truth, a prediction and what the model lets see."""
    with serving("--runs", str(runs), *TRUST, cwd=runs.parent) as server:
        models = {model["id"]: model for model in get(server, "/api/models").json()}
        mine = models["whole"]
        assert (mine["task"], mine["length"], mine["nesting"], mine["max_nesting"]) == ("mylab.tasks:Maximum", 3, 2, 5)
        drawn = get(server, "/api/sample", task=mine["task"], length=3, nesting=2, seed=4).json()
        truth = post(server, "/api/execute", task=mine["task"], input=drawn["input"]).json()
        assert (truth["output"], truth["trace"]) == (drawn["target"], [])
        answer = post(server, "/api/predict", model="whole", input="max(38,7,61)", states=True).json()
        assert answer["target"] == "61"
        characters, activations = answer["states"]["characters"], answer["states"]["activations"]
        assert characters.startswith("max(38,7,61).")
        assert list(activations) == ["units"]
        (columns,) = activations["units"]
        assert [len(column) for column in columns] == [64] * len(characters)
        assert all(len(one["alternatives"]) == 41 + 2 - 1 for one in answer["characters"])
        listed = {run["id"]: run for run in get(server, "/api/runs").json()}
        assert (listed["whole"]["strategy"], listed["whole"]["problem"]) == ("mylab.teachers:Bandit", None)
        # What was not named is not imported, whoever asks for it.
        assert "loud" not in models
        assert "loud:Tiny are code outside execlab" in listed["loud"]["problem"]
        assert post(server, "/api/predict", model="loud", input="max(1,2)").status_code == 422
        for name in ("loud:Maximum", "mylab.nowhere:Task"):
            other = post(server, "/api/execute", task=name, input="1")
            assert other.status_code == 422
            assert other.json()["detail"].startswith(f"there is no task '{name}'; choose ")
    assert not trace.exists()
