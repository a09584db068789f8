"""train, evaluate, predict, compare and curve as a user runs them."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import execlab
from execlab.cli import main
from execlab.training.config import make_config
from execlab.training.loop import train

if TYPE_CHECKING:
    from pathlib import Path


def run(*arguments: str, text: str = "", status: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "execlab", *arguments], input=text, capture_output=True, text=True, check=False
    )
    assert done.returncode == status, done.stderr
    return done


@pytest.fixture(scope="module")
def addition(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train(make_config("smoke"), tmp_path_factory.mktemp("addition") / "run")


@pytest.fixture(scope="module")
def memorization(tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = make_config("smoke", task="memorization", length=4, invert=True, double=True, scramble=2)
    return train(config, tmp_path_factory.mktemp("memorization") / "run")


def test_train_writes_everything_and_shows_progress(tmp_path: Path) -> None:
    done = run("train", "--preset", "smoke", "--out", str(tmp_path / "run"))
    assert "4,737 parameters" in done.stderr
    assert "characters/s" in done.stderr
    assert "test exact match" in done.stderr
    names = {path.name for path in (tmp_path / "run").iterdir()} - {".lock", ".owner"}
    assert names == {
        "config.json", "metrics.jsonl", "checkpoints", "model.safetensors", "report.json", "report.md",
        "learning_curve.png",
    }  # fmt: skip
    assert (tmp_path / "run" / "learning_curve.png").read_bytes().startswith(b"\x89PNG")


def test_help_tells_what_a_preset_says_of_each_task() -> None:
    told = " ".join(run("train", "--help").stdout.split())
    assert "laptop 300000 (600000 for program, 200000 for memorization), speedrun 2400000" in told
    assert make_config("laptop", task="program").samples == 600_000
    assert make_config("laptop", task="memorization").samples == 200_000
    assert make_config("laptop", task="addition").samples == 300_000


def test_evaluate(addition: Path, tmp_path: Path) -> None:
    shown = run("evaluate", str(addition), "--count", "50", "--predictions", str(tmp_path / "p.jsonl")).stdout
    for words in ("teacher forced accuracy", "exact match", "chance", "kinds of error", "longest carry chain"):
        assert words in shown
    rows = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text().splitlines()]
    assert len(rows) == 50
    assert set(rows[0]) == {"input", "target", "teacher_forced", "free_running", "ended"}
    flags = ("--length", "1", "--strategy", "mix", "--split", "validation", "--seed", "3", "--count", "20", "--json")
    found = json.loads(run("evaluate", str(addition), *flags).stdout)
    assert (found["length"], found["split"], found["seed"]) == (1, "validation", 3)
    assert set(found["exact_match"]) == {"value", "low", "high", "n"}


def test_predict(addition: Path) -> None:
    shown = run("predict", str(addition), "print(12+34)").stdout
    assert "Target: 46" in shown
    assert "outside" not in shown
    assert "trained on 2" in run("predict", str(addition), "print(1234+4321)").stdout
    forced = json.loads(run("predict", str(addition), "-", "--teacher-forced", "--json", text="print(12+34)\n").stdout)
    assert forced["target"] == "46"
    assert len(forced["characters"]) == 3
    assert forced["correct"] is (forced["prediction"] == "46")


def test_predict_makes_the_runs_own_modifications(memorization: Path) -> None:
    found = json.loads(run("predict", str(memorization), "1234", "--json").stdout)
    assert (found["input"], found["target"]) == ("4321;4321", "1234")


def test_predict_refuses(addition: Path, memorization: Path) -> None:
    assert "line 1, column 7" in run("predict", str(addition), "print(a)", status=2).stderr
    assert "does not know 'k'" in run("predict", str(addition), "k=1\nprint(k)", status=2).stderr
    assert "digits" in run("predict", str(memorization), "12a", status=2).stderr


def test_compare(addition: Path, memorization: Path, tmp_path: Path) -> None:
    other = train(make_config("smoke", seed=1), tmp_path / "other")
    assert "difference in" in run("compare", str(addition), str(other), "--count", "30").stdout
    rows = json.loads(run("compare", str(addition), str(addition), "--count", "30", "--json").stdout)
    itself = rows[1]["exact_match_difference"]
    assert itself["low"] < itself["value"] == 0.0 < itself["high"]
    assert "another task" in run("compare", str(addition), str(memorization), status=2).stderr


def test_curve(addition: Path, tmp_path: Path) -> None:
    run("curve", str(addition), "--out", str(tmp_path / "c.svg"))
    assert b"<svg" in (tmp_path / "c.svg").read_bytes()
    assert "must end in" in run("curve", str(addition), "--out", "x.jpg", status=2).stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("train", "--preset", "smoke", "--resume", "x"), "leave out the other settings"),
        (("train", "--resume", "nowhere"), "is not a run"),
        (("train", "--preset", "smoke", "--device", "abacus", "--out", "{tmp}/x"), "is not available"),
        (("train", "--preset", "smoke", "--length", "0"), "length is 0"),
        (("train", "--config", "nowhere.json"), "No such file"),
        (("train", "--config", "{tmp}/bad.json"), "is not JSON"),
        (("train", "--config", "{tmp}/odd.json"), "no setting 'warp'"),
        (("train", "--preset", "smoke", "--out", "{tmp}/bad.json"), "bad.json"),
        (("evaluate", "nowhere"), "no run or model at nowhere"),
        (("evaluate", "{tmp}"), "is not a run"),
        (("evaluate", "{tmp}/bad.json"), "not a safetensors file"),
        (("predict", "nowhere", "1"), "no run or model"),
        (("compare",), "Missing argument"),
        (("curve", "{tmp}"), "is not a run"),
    ],
)
def test_bad_calls(
    arguments: tuple[str, ...],
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "bad.json").write_text("{")
    (tmp_path / "odd.json").write_text('{"warp": 9}')
    words = (argument.replace("{tmp}", str(tmp_path)) for argument in arguments)
    monkeypatch.setattr(sys, "argv", ["execlab", *words])
    with pytest.raises(SystemExit) as end:
        main()  # here: importing PyTorch takes longer than refusing
    printed = capsys.readouterr().err
    assert end.value.code == 2
    assert sentence in printed
    assert printed.count("\n") == 1


def test_from_python(addition: Path, tmp_path: Path) -> None:
    model = execlab.load(addition)
    prediction = model.predict("print(12+34)")
    assert prediction.target == "46"
    assert execlab.load(addition / "model.safetensors").predict("print(12+34)") == prediction
    folder = execlab.train(execlab.make_config("smoke", steps=20), tmp_path / "run")
    (folder / "model.safetensors").unlink()
    assert execlab.load(folder).config.steps == 20  # an unfinished run: its newest checkpoint


def test_a_run_without_a_name_goes_below_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = execlab.train(execlab.make_config("smoke", steps=10))
    assert (tmp_path / folder / "model.safetensors").exists()
    assert str(folder) == "runs/addition-2x1-combined-0"


def test_tensorboard(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    run("train", "--preset", "smoke", "--tensorboard", "--out", str(tmp_path / "run"))
    assert any((tmp_path / "run" / "tensorboard").iterdir())


def test_stream_models_are_asked_after_a_sample(tmp_path: Path) -> None:
    folder = train(make_config("smoke", feed="stream", window=20), tmp_path / "run")
    assert execlab.load(folder).reader.prompt.count(".") == 2
