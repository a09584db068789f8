"""Grids under attack: a second process, hostile results, files that lie in the way."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from rows import bare_row

from execlab.errors import ExeclabError
from execlab.experiments import Planned, make_grid
from execlab.experiments.analyse import rows
from execlab.experiments.analyse.rows import Row, read_rows, write_rows
from execlab.experiments.publish.page import write_page
from execlab.experiments.run import processes
from execlab.experiments.run.display import Watch
from execlab.experiments.run.engine import LocalEngine
from execlab.experiments.run.reproduce import reproduce
from execlab.experiments.run.work import write_grid
from execlab.files import write_atomically
from execlab.training.config import make_config
from execlab.training.locking import BusyError, lock

if TYPE_CHECKING:
    from pathlib import Path

EXECLAB = [sys.executable, "-m", "execlab"]
IMAGE = '<img src=x onerror="alert(1)">'


class Listener(Watch):
    def __init__(self) -> None:
        super().__init__()
        self.sentences: list[str] = []

    def say(self, sentence: str) -> None:
        self.sentences.append(sentence)


def row(**changes: Any) -> Row:
    texts = {"experiment": "addition", "scale": "smoke", "strategy": "baseline", "versions": "{}", "task": "addition"}
    values: dict[str, Any] = {"scrambled": False, "climb": None, "budget": "full", "seconds": 1, "characters": 1}
    return bare_row(**texts | values | changes)


def test_a_second_process_does_not_touch_a_running_grid(tmp_path: Path) -> None:
    words = [*EXECLAB, "reproduce", "addition", "--scale", "smoke", "--workers", "1", "--out", str(tmp_path)]
    first = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "grid.json").exists() and first.poll() is None:
        time.sleep(0.02)
    grid = (tmp_path / "grid.json").read_bytes()
    second = subprocess.run([*words, "--seeds", "2"], capture_output=True, text=True, check=False)
    assert second.returncode == 2
    assert f"another process is writing to {tmp_path}" in second.stderr
    assert (tmp_path / "grid.json").read_bytes() == grid
    first.terminate()
    _, errors = first.communicate()
    assert "the same command goes on from here" in errors


def test_a_grid_that_is_locked_is_refused(tmp_path: Path) -> None:
    grid = make_grid("addition", "smoke")
    with lock(tmp_path), pytest.raises(BusyError):
        reproduce("addition", "smoke", grid, tmp_path, LocalEngine(tmp_path, 1), Listener())


def test_a_row_that_the_grid_does_not_list_is_no_end(tmp_path: Path) -> None:
    grid = make_grid("addition", "smoke")[:1]
    write_grid(tmp_path, [Planned("another", make_config("smoke"))])
    write_rows([row(run=grid[0].name), row(run="lost")], tmp_path)
    watch = Listener()
    reproduce("addition", "smoke", grid, tmp_path, LocalEngine(tmp_path, 1), watch)
    assert sum("which grid.json does not list" in sentence for sentence in watch.sentences) == 2
    by_name = {row.run: row for row in read_rows(tmp_path)}
    assert by_name.keys() == {grid[0].name, "lost"}
    assert by_name[grid[0].name].commit != ""  # made again


def test_a_run_that_the_grid_does_not_list(tmp_path: Path) -> None:
    write_grid(tmp_path, [Planned("one", make_config("smoke"))])
    process = processes.start(tmp_path, "other")
    process.wait()
    assert processes.reason(tmp_path, "other", process) == f"{tmp_path}/grid.json does not list the run other"


def test_nothing_is_imported_from_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    marker = tmp_path / "was-run"
    for name in ("filelock", "torch", "json", "execlab", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text(f"open({str(marker)!r}, 'w')\n")
    monkeypatch.chdir(tmp_path)
    grid = tmp_path / "grid"
    write_grid(grid, [Planned("one", make_config("smoke", steps=10, test_count=4))])
    process = processes.start(grid, "one")
    process.wait()
    assert processes.reason(grid, "one", process) == ""
    assert not marker.exists()


@pytest.mark.parametrize("link", ["figures", "figures/addition.svg", "report.html", "logs"])
def test_a_report_is_not_written_through_links(tmp_path: Path, link: str) -> None:
    results, outside = tmp_path / "results", tmp_path / "outside"
    results.mkdir()
    write_rows([row(run="a")], results)
    if link in ("figures", "logs"):
        outside.mkdir()
    else:
        outside.write_text("theirs")
    (results / link).parent.mkdir(exist_ok=True)
    (results / link).symlink_to(outside)
    if link == "figures":
        with pytest.raises(ExeclabError, match="behind a link"):
            write_page(results)
    elif link == "logs":
        with pytest.raises(ExeclabError, match="behind a link"):
            processes.start(results, "a")
    else:
        write_page(results)
        assert not (results / link).is_symlink()
    assert list(outside.iterdir()) == [] if outside.is_dir() else outside.read_text() == "theirs"


def test_everything_on_the_page_is_escaped(tmp_path: Path) -> None:
    write_rows(
        [row(run="a", experiment=IMAGE, strategy=IMAGE, commit=IMAGE, versions=json.dumps({IMAGE: IMAGE}))], tmp_path
    )
    write_grid(tmp_path, [])
    (tmp_path / "grid.json").write_text(json.dumps({IMAGE: {"task": IMAGE}}))
    example = {"input": IMAGE, "target": IMAGE, "predictions": {IMAGE: IMAGE}}
    (tmp_path / "examples.json").write_text(json.dumps([{"length": IMAGE, "nesting": IMAGE, "examples": [example]}]))
    text = write_page(tmp_path).read_text()
    assert "<img" not in text
    assert text.count("&lt;img") > 8


@pytest.mark.parametrize("examples", ["3", "[3]", '[{"examples": 3}]', '[{"examples": [{"predictions": 3}]}]'])
def test_examples_of_another_shape(tmp_path: Path, examples: str) -> None:
    write_rows([row(run="a")], tmp_path)
    (tmp_path / "examples.json").write_text(examples)
    with pytest.raises(ExeclabError, match="another shape"):
        write_page(tmp_path)


@pytest.mark.parametrize("change", [{"length": IMAGE}, {"seconds": None}, {"strategy": 3}, {"exact_match": True}])
def test_rows_of_another_shape(tmp_path: Path, change: dict[str, object]) -> None:
    (tmp_path / "results.jsonl").write_text(json.dumps(row(**change).to_json()) + "\n")
    with pytest.raises(ExeclabError, match=f"{next(iter(change))} is"):
        write_page(tmp_path)


def test_results_in_two_formats_never_disagree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed at any moment while rows are written: Parquet has the rows of results.jsonl, or is not there."""
    import pyarrow.parquet as pq

    write_rows([row(run="a")], tmp_path)
    for moment in range(4):
        calls = 0

        def dies(*words: Any, at: int = moment, **more: Any) -> None:
            nonlocal calls
            calls += 1
            if calls > at:
                raise KeyboardInterrupt
            write_atomically(*words, **more)

        monkeypatch.setattr(rows, "write_atomically", dies)
        with suppress(KeyboardInterrupt):
            write_rows([row(run="a"), row(run=f"b{moment}")], tmp_path)
        monkeypatch.undo()
        if (tmp_path / "results.parquet").exists():
            table = pq.read_table(tmp_path / "results.parquet").to_pylist()
            assert [line["run"] for line in table] == [row.run for row in read_rows(tmp_path)]
    assert not list(tmp_path.glob(".*"))


def test_an_interrupted_parquet_file_is_never_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pyarrow.parquet as pq

    write_rows([row(run="a")], tmp_path)

    def half(_table: object, where: Any, **_more: object) -> None:
        (where.write if hasattr(where, "write") else where.write_bytes)(b"PAR1 half")
        raise KeyboardInterrupt

    monkeypatch.setattr(pq, "write_table", half)
    with pytest.raises(KeyboardInterrupt):
        write_rows([row(run="a"), row(run="b")], tmp_path)
    monkeypatch.undo()
    table = pq.read_table(tmp_path / "results.parquet").to_pylist()
    assert [line["run"] for line in table] == [row.run for row in read_rows(tmp_path)] == ["a"]
