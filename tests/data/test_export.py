"""Exported datasets: complete or absent, small in memory, and readable by Hugging Face `datasets`."""

from __future__ import annotations

import dataclasses
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from execlab.data import export as export_module
from execlab.data.export import Format, export
from execlab.data.sampling import Source
from execlab.data.splits import SPLITS, Split
from execlab.errors import ExeclabError
from execlab.tasks import Difficulty
from execlab.tasks.addition import AdditionTask
from execlab.tasks.memorization import MemorizationTask
from execlab.tasks.program import ProgramTask

SOURCE = Source(ProgramTask(layout="indented"), Difficulty(4, 3), seed=5, strategy="mix", scramble=9)
COUNTS: dict[Split, int] = {"train": 150, "validation": 20, "test": 30}
FORMATS: tuple[Format, ...] = ("jsonl", "parquet")


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))


@pytest.mark.parametrize("file_format", FORMATS)
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_hugging_face_reads_it(file_format: Format, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    export(SOURCE, COUNTS, folder, file_format)
    script = (
        "import json, sys, datasets; datasets.disable_progress_bars();"
        "loaded = datasets.load_dataset(sys.argv[1]);"
        "print(json.dumps({name: list(split) for name, split in loaded.items()}))"
    )
    done = subprocess.run([sys.executable, "-c", script, str(folder)], capture_output=True, text=True, check=True)
    loaded: dict[str, list[dict[str, Any]]] = json.loads(done.stdout)
    assert {name: len(rows) for name, rows in loaded.items()} == COUNTS
    for split in SPLITS:
        source = Source(SOURCE.task, SOURCE.goal, split, SOURCE.seed, SOURCE.strategy, SOURCE.scramble)
        assert loaded[split] == [source.record(row) for row in source.rows(stop=COUNTS[split])]


@pytest.mark.parametrize("file_format", FORMATS)
def test_never_overwrites_unasked(file_format: Format, tmp_path: Path) -> None:
    export(SOURCE, COUNTS, tmp_path, file_format)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    with pytest.raises(ExeclabError, match="--force"):
        export(SOURCE, COUNTS, tmp_path, file_format)
    export(SOURCE, COUNTS, tmp_path, file_format, force=True)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before
    assert set(before) == {*(f"{split}.{file_format}" for split in SPLITS), "README.md"}


@pytest.mark.parametrize("file_format", FORMATS)
def test_a_full_disk_leaves_nothing(file_format: Format, tmp_path: Path) -> None:
    """A limit on the size of files fails a write like a full disk does."""
    folder = tmp_path / "new" / "nested"
    done = subprocess.run(
        [sys.executable, "-m", "execlab", "export", "--out", str(folder), "--format", file_format, "--count", "20000"],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)),
    )
    assert done.returncode == 2
    assert done.stderr.startswith("execlab: ")
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_an_interrupted_export_leaves_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    process = subprocess.Popen(
        [sys.executable, "-m", "execlab", "export", "--out", str(folder), "--count", "100000000"],
        stderr=subprocess.PIPE,
        text=True,
    )
    while not folder.exists() or not any(folder.iterdir()):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    assert process.returncode == 130
    assert errors.strip().split("\n")[-1] == "execlab: interrupted"
    assert not folder.exists()


def test_a_killed_export_leaves_no_half_file_under_a_final_name(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "execlab", "export", "--out", str(tmp_path), "--count", "100000000"]
    )
    while not any(tmp_path.iterdir()):
        time.sleep(0.01)
    process.kill()
    process.wait()
    assert all(path.name.endswith(".partial") for path in tmp_path.iterdir())


def test_parquet_without_pyarrow_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ExeclabError, match=r"pip install 'execlab\[parquet\]'"):
        export(SOURCE, COUNTS, tmp_path / "new", "parquet")
    assert not (tmp_path / "new").exists()


def test_unknown_format(tmp_path: Path) -> None:
    with pytest.raises(ExeclabError, match="choose jsonl, parquet"):
        export(SOURCE, COUNTS, tmp_path, "csv")  # type: ignore[arg-type]


def test_empty_splits_and_other_tasks(tmp_path: Path) -> None:
    source = Source(MemorizationTask(double=True), Difficulty(5))
    for file_format in FORMATS:
        export(source, {"train": 1, "validation": 0, "test": 0}, tmp_path / file_format, file_format)
        assert {path.name for path in (tmp_path / file_format).iterdir()} == {f"train.{file_format}", "README.md"}
        assert "split: test" not in (tmp_path / file_format / "README.md").read_text()


def test_a_folder_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "test.jsonl").mkdir()
    with pytest.raises(ExeclabError, match=r"test\.jsonl exists already"):
        export(SOURCE, COUNTS, tmp_path, "jsonl", force=True)
    assert [path.name for path in tmp_path.iterdir()] == ["test.jsonl"]


@pytest.mark.long
@pytest.mark.parametrize("file_format", FORMATS)
def test_a_million_rows_in_constant_memory(file_format: Format, tmp_path: Path) -> None:
    # Not ru_maxrss: a child inherits that of the process it was forked from.
    script = (
        "import re; from execlab.cli import main\n"
        "try: main()\n"
        "finally: print(re.search('VmHWM:\\\\s+([0-9]+) kB', open('/proc/self/status').read())[1])"
    )
    arguments = ["export", "--out", str(tmp_path / "million"), "--format", file_format]
    arguments += ["--train", "1000000", "--validation", "0", "--test", "0", "--nesting", "2"]
    done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=True)
    assert int(done.stdout.split()[-1]) < 300 * 1024
    assert export_module.ROW_GROUP <= 10_000


def test_the_card_names_splits_and_shows_an_example(tmp_path: Path) -> None:
    export(Source(ProgramTask(), Difficulty(4, 2)), COUNTS, tmp_path, "jsonl")
    card = (tmp_path / "README.md").read_text()
    assert card.startswith("---\n")
    assert "  - split: validation\n    path: validation.jsonl\n" in card
    assert "print(" in card
    assert os.sep + "tmp" not in card


def test_a_killed_replacement_never_mixes_two_datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed between any two renames: what has a card is one dataset, old or new."""
    source = Source(AdditionTask(), Difficulty(3))
    counts: dict[Split, int] = {"train": 3, "validation": 3, "test": 3}
    replace = Path.replace
    for moment in range(4):
        folder = tmp_path / str(moment)
        export(source, counts, folder, "jsonl")
        calls = 0

        def dies(self: Path, target: Path, at: int = moment) -> Path:
            nonlocal calls
            calls += 1
            if calls > at:
                raise KeyboardInterrupt
            return replace(self, target)

        monkeypatch.setattr(Path, "replace", dies)
        with pytest.raises(KeyboardInterrupt):
            export(dataclasses.replace(source, seed=1), counts, folder, "jsonl", force=True)
        monkeypatch.undo()
        seeds = {json.loads(line)["seed"] for path in folder.glob("*.jsonl") for line in path.read_text().splitlines()}
        assert len(seeds) <= 1
        assert not (folder / "README.md").exists() or len(list(folder.glob("*.jsonl"))) == 3


def test_a_replaced_dataset_leaves_no_old_split(tmp_path: Path) -> None:
    source = Source(AdditionTask(), Difficulty(3))
    export(source, {"train": 3, "validation": 3, "test": 3}, tmp_path, "jsonl")
    export(source, {"train": 3, "validation": 0, "test": 0}, tmp_path, "jsonl", force=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["README.md", "train.jsonl"]
