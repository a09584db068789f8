"""What earlier data versions left behind: models answer, and nothing of theirs is mixed with samples of today."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from execlab.cli import evaluate, experiments
from execlab.cli import train as training
from execlab.data.sampling import Source
from execlab.data.splits import DATA_VERSION
from execlab.errors import ExeclabError
from execlab.evaluation.evaluate import evaluate as score
from execlab.experiments.analyse.rows import read_rows
from execlab.experiments.publish.page import write_page
from execlab.playground.store import SHIPPED, ModelStore
from execlab.training import checkpoints, load, runs
from execlab.training.config import make_config
from execlab.training.loop import resume, train

RESULTS = Path(__file__).parents[2] / "results"


def made_with(version: object, run: Path) -> Path:
    """Let a run be of another data version."""
    about = json.loads((run / "config.json").read_text())
    (run / "config.json").write_text(json.dumps(about | {"data_version": version}))
    model = run / "model.safetensors"
    if model.exists():
        tensors, header = checkpoints.from_bytes(model.read_bytes())
        header["execlab"]["data_version"] = version
        model.write_bytes(checkpoints.to_bytes(tensors, header))
    return run


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train(make_config("smoke", steps=10, test_count=4), tmp_path_factory.mktemp("whole") / "run")


@pytest.fixture
def old(whole: Path, tmp_path: Path) -> Path:
    """A finished run of version 1."""
    return made_with(1, Path(shutil.copytree(whole, tmp_path / "old")))


COMMANDS = {str(command.name): command for command in (*evaluate.COMMANDS, *experiments.COMMANDS, *training.COMMANDS)}


def run(command: str, *arguments: object) -> Result:
    return CliRunner().invoke(COMMANDS[command], [str(argument) for argument in arguments])


def reason(command: str, *arguments: object) -> str:
    """Why a command refuses."""
    done = run(command, *arguments)
    assert isinstance(done.exception, ExeclabError), done.output
    return str(done.exception)


def test_a_model_of_version_1_answers(old: Path, whole: Path) -> None:
    text = "print(12+34)"
    assert load.load(old).predict(text).prediction == load.load(whole).predict(text).prediction
    assert load.load(old).reader.data_version == 1
    assert load.load(whole).reader.data_version == DATA_VERSION
    assert run("predict", old, text).exit_code == 0


def test_models_that_ship_say_their_version_and_keep_the_accuracy_of_their_report() -> None:
    for model in ModelStore(None).listed():
        stated = json.loads((SHIPPED / f"{model.id}.json").read_text())
        assert model.data_version == stated.get("data_version", 1)
        assert model.data_version == load.load(SHIPPED / f"{model.id}.safetensors").reader.data_version
        assert model.accuracies["exact_match"].value == stated["test"]["exact_match"]["value"]


def test_it_is_not_scored(old: Path, whole: Path) -> None:
    for arguments in (("evaluate", old), ("compare", whole, old), ("compare", old, whole)):
        refused = reason(*arguments, "--count", 4)
        assert f"{old} was trained on data version 1" in refused
        assert "not scored" in refused
    scored = run("evaluate", whole, "--count", 4, "--json")
    assert json.loads(scored.output)["data_version"] == DATA_VERSION
    config = load.load(old).config
    with pytest.raises(ExeclabError, match="this model was trained on data version 1"):
        score(load.load(old).reader, Source(config.make_task(), config.goal, "test"), 4)


def test_a_run_that_is_not_over_cannot_go_on(old: Path) -> None:
    resume(old)  # over: nothing is drawn
    (old / "report.json").unlink()
    before = {path.name: path.stat().st_mtime_ns for path in old.iterdir()}
    refused = reason("train", "--resume", old)
    assert "was begun with data version 1, and this execlab draws version 2" in refused
    assert f"execlab train --config {old / 'config.json'} --out" in refused
    assert {path.name: path.stat().st_mtime_ns for path in old.iterdir()} == before
    assert load.load(old).reader.data_version == 1


def test_its_config_trains_again(old: Path, tmp_path: Path) -> None:
    done = run("train", "--config", old / "config.json", "--out", tmp_path / "again")
    assert done.exit_code == 0, done.output
    assert runs.read_about(tmp_path / "again").data_version == DATA_VERSION
    assert json.loads((tmp_path / "again" / "report.json").read_text())["data_version"] == DATA_VERSION


@pytest.mark.parametrize("version", [0, DATA_VERSION + 1, None, "2", 1.5])
def test_unknown_versions(old: Path, version: object) -> None:
    made_with(version, old)
    for what in (old, old / "model.safetensors"):
        with pytest.raises(ExeclabError, match=r"data version .* newer execlab"):
            load.load(what)


def test_published_rows_stay_and_are_not_mixed_with_new_ones(tmp_path: Path) -> None:
    published = Path(shutil.copytree(RESULTS / "orders", tmp_path / "orders"))
    assert {row.data_version for row in read_rows(published)} == {1}
    assert "of data version 1" in " ".join(write_page(published).read_text().split())
    assert "only the execlab that made them" in reason("recheck", published)
    for arguments in (["--out", published], ["--out", tmp_path / "new", "--rows-of", published]):
        for dry in ([], ["--dry-run"]):
            refused = reason("reproduce", "orders", "--scale", "laptop", *arguments, *dry)
            assert f"{published} has results of data version 1" in refused
    assert (published / "results.jsonl").read_bytes() == (RESULTS / "orders" / "results.jsonl").read_bytes()
