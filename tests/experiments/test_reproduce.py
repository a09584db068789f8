"""Whole experiments: real processes, real kills, the same rows in the end."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from html import unescape
from typing import TYPE_CHECKING, Any

import pytest
from rows import bare_row

from execlab.errors import ExeclabError
from execlab.experiments import EXPERIMENTS, Planned, make_grid
from execlab.experiments.analyse.judge import judge
from execlab.experiments.analyse.rows import COLUMNS, Row, read_rows, write_rows
from execlab.experiments.publish.page import write_page
from execlab.experiments.run import processes
from execlab.experiments.run.collect import collect
from execlab.experiments.run.display import GridProgress, Watch
from execlab.experiments.run.engine import run_grid
from execlab.experiments.run.processes import Ended
from execlab.experiments.run.reproduce import borrow, reproduce
from execlab.experiments.run.work import read_grid, work, write_grid
from execlab.training.config import make_config

if TYPE_CHECKING:
    from pathlib import Path

EXECLAB = [sys.executable, "-m", "execlab"]


def start(experiment: str, out: Path) -> subprocess.Popen[str]:
    words = [*EXECLAB, "reproduce", experiment, "--scale", "smoke", "--workers", "2", "--out", str(out)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen[str]) -> str:
    said = process.communicate()
    assert process.returncode == 0, said
    return said[0]


def finished(out: Path) -> int:
    return len(list(out.glob("runs/*/report.json")))


def comparable(out: Path) -> list[Row]:
    return [replace(row, seconds=0) for row in read_rows(out)]


def killed_and_whole(experiment: str, tmp_path: Path) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    assert "report.html" in finish(start(experiment, whole))
    for wanted in (1, 2):
        process = start(experiment, broken)
        while process.poll() is None and finished(broken) < wanted:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    before = finished(broken)
    finish(start(experiment, broken))
    assert comparable(broken) == comparable(whole)
    assert 0 < before <= len(comparable(whole))


# The smallest grid; the others are killed in the long form.
KILLED = "statistics"


def test_a_killed_grid_ends_with_the_same_rows(tmp_path: Path) -> None:
    killed_and_whole(KILLED, tmp_path)
    rows = read_rows(tmp_path / "whole")
    assert list(rows[0].to_json()) == list(COLUMNS)
    assert len(rows) == 2
    check_published(KILLED, tmp_path / "whole")
    shutil.rmtree(tmp_path / "whole" / "runs")  # a row is enough
    assert "2 of 2 runs" in finish(start(KILLED, tmp_path / "whole"))
    assert read_rows(tmp_path / "whole") == rows
    assert not (tmp_path / "whole" / "runs").exists()


def check_published(experiment: str, out: Path) -> None:
    """Grid, rows, figures and claims are those of the experiment."""
    known, grid, rows = EXPERIMENTS[experiment], make_grid(experiment, "smoke"), read_rows(out)
    assert known.name == experiment
    assert {planned.config.strategy for planned in grid} == set(known.strategies)
    assert len(rows) == len(grid)
    shown = {name for name, drawing in known.figures.items() if any(drawing.shows(row) for row in rows)}
    assert {path.stem for path in out.glob("figures/*.svg")} == shown
    assert bool(shown) == bool(known.figures)
    claims, page = judge(rows), unescape((out / "report.html").read_text())
    assert [claim.experiment for claim in claims] == [experiment] * len(known.claims)
    assert all(claim.text in page for claim in claims)
    assert {claim.verdict for claim in claims} <= {"not tested"}  # one seed shows nothing


@pytest.mark.long
@pytest.mark.parametrize("experiment", [name for name in EXPERIMENTS if name != KILLED])
def test_every_killed_grid_ends_with_the_same_rows(experiment: str, tmp_path: Path) -> None:
    killed_and_whole(experiment, tmp_path)


class Here:
    """An engine without processes: every run is done where it is started."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.over = folder, list[Ended]()

    def free(self) -> bool:
        return not self.over

    def start(self, name: str) -> None:
        work(self.folder / "runs" / name, read_grid(self.folder)[name].config)
        self.over.append(Ended(name, ""))

    def ended(self) -> list[Ended]:
        ended, self.over = self.over, []
        return ended

    def stop(self) -> None:
        self.over = []


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_smoke_grids(experiment: str, tmp_path: Path) -> None:
    grid = make_grid(experiment, "smoke")
    assert not reproduce(experiment, "smoke", grid, tmp_path, Here(tmp_path), Watch()).failed
    check_published(experiment, tmp_path)
    rows = read_rows(tmp_path)
    page = (tmp_path / "report.html").read_text()
    assert not re.search(r'(?:src|href)="(?!data:|#)', page.replace("xlink:href", "href"))  # nothing from elsewhere
    if experiment == "addition":
        assert page.count("<svg") == 1
        for length in {row.length for row in rows}:
            spent = [row.characters for row in rows if row.length == length]
            assert max(spent) - min(spent) < 8 * 30  # less than a batch
    if experiment in ("examples", "programs"):
        for setting in json.loads((tmp_path / "examples.json").read_text()):
            assert list(setting["examples"][0]["predictions"]) == ["baseline", "naive", "mix", "combined"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_saves_and_says_how_to_go_on(number: signal.Signals, tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = start("addition", out)
    while process.poll() is None and not list(out.glob("runs/*/checkpoints/step-00000001*")):
        time.sleep(0.01)
    process.send_signal(number)
    said = process.communicate()[1]
    assert process.returncode == 130
    assert "the same command goes on from here" in said
    assert finished(out) < 8
    assert "stopped at step" in "".join(path.read_text() for path in out.glob("logs/*.log"))
    left = subprocess.run(["pgrep", "-f", f"main\\(\\) {out}"], capture_output=True, text=True, check=False)
    assert left.stdout == ""


def test_rows_of_other_runs_are_never_mixed_in(tmp_path: Path) -> None:
    grid = make_grid("addition", "smoke", seeds=2)
    second = bare_row(run=grid[1].name)  # the second seed's
    write_grid(tmp_path, grid)
    write_rows([second], tmp_path)
    fewer = make_grid("addition", "smoke", seeds=1)
    asked = Fake(tmp_path, dict.fromkeys((planned.name for planned in fewer), 0))
    run_grid(fewer, tmp_path, asked, Watch())
    assert len(asked.starts) == len(fewer)
    assert collect("addition", "smoke", fewer, tmp_path) == [second]  # kept, though it was not asked for
    with pytest.raises(ExeclabError, match="holds the results of  at scale"):
        reproduce("programs", "smoke", fewer, tmp_path, asked, Watch())
    other = [Planned(grid[1].name, make_config("smoke", length=4))]
    with pytest.raises(ExeclabError, match="has a row of another"):
        run_grid(other, tmp_path, Fake(tmp_path, {}), Watch())


def test_the_same_run_is_not_done_twice(tmp_path: Path) -> None:
    """programs has the runs of length first under another name; those of nesting first are orders' own."""
    programs, orders = tmp_path / "programs", tmp_path / "orders"
    cell: dict[str, Any] = {"task": "program", "length": 2, "nesting": 2, "strategy": "naive"}
    there = [Planned("one", make_config("smoke", **cell)), Planned("other", make_config("smoke", seed=1, **cell))]
    write_grid(programs, there)
    write_rows([bare_row(run=name, samples=7) for name in ("one", "other")], programs)
    grid = [
        Planned("length-first", there[0].config),
        Planned("nesting-first", make_config("smoke", order="nesting_first", **cell)),
    ]
    assert borrow("orders", "smoke", grid, orders, [programs]) == 1
    (row,) = read_rows(orders)
    assert (row.experiment, row.run, row.order, row.samples) == (
        "orders",
        "length-first",
        "length_first",
        7,
    )
    engine = Fake(orders, {"nesting-first": 0})
    run_grid(grid, orders, engine, Watch())
    assert engine.starts == ["nesting-first"]
    assert borrow("orders", "smoke", grid, orders, [programs]) == 0
    with pytest.raises(ExeclabError, match="holds no results"):
        borrow("orders", "smoke", grid, orders, [tmp_path / "nowhere"])
    with pytest.raises(ExeclabError, match="a row has no model"):
        reproduce("examples", "smoke", grid, tmp_path / "examples", engine, Watch(), [programs])


class Fake:
    """An engine whose runs fail as often as is said."""

    def __init__(self, folder: Path, failures: dict[str, int]) -> None:
        self.folder, self.failures, self.running, self.starts = folder, failures, list[str](), list[str]()

    def free(self) -> bool:
        return not self.running

    def start(self, name: str) -> None:
        self.running.append(name)
        self.starts.append(name)

    def ended(self) -> list[Ended]:
        found = []
        for name in self.running:
            self.failures[name] -= 1
            found.append(Ended(name, "out of luck" if self.failures[name] >= 0 else ""))
        self.running = []
        return found

    def stop(self) -> None:
        self.running = []


def test_failures_are_tried_again_and_stop_nobody(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    grid = make_grid("addition", "smoke")[:3]
    names = [planned.name for planned in grid]
    engine = Fake(tmp_path, {names[0]: 2, names[1]: 3, names[2]: 0})
    progress = run_grid(grid, tmp_path, engine, Watch(), tries=3)
    assert progress.done == [names[2], names[0]]
    assert progress.failed == {names[1]: "out of luck"}
    assert len(engine.starts) == 3 + 3 + 1
    assert "failed 3 times and is left out: out of luck" in capsys.readouterr().err
    assert read_grid(tmp_path) == {planned.name: planned for planned in grid}


def test_a_folder_of_another_run_is_not_overwritten(tmp_path: Path) -> None:
    config = make_config("smoke", steps=10)
    work(tmp_path / "run", config)
    with pytest.raises(ExeclabError, match="holds another run"):
        work(tmp_path / "run", make_config("smoke", steps=20))


def test_a_run_killed_before_its_first_checkpoint_starts_again(tmp_path: Path) -> None:
    config = make_config("smoke", steps=10)
    work(tmp_path / "run", config)
    for path in (tmp_path / "run" / "checkpoints").iterdir():
        path.unlink()
    (tmp_path / "run" / "report.json").unlink()
    work(tmp_path / "run", config)
    assert (tmp_path / "run" / "report.json").exists()


def test_how_far_a_grid_is(tmp_path: Path) -> None:
    grid = [Planned("one", make_config("smoke", steps=40)), Planned("two", make_config("smoke", steps=40))]
    work(tmp_path / "runs" / "one", grid[0].config)
    progress = GridProgress(tmp_path, grid, done=["one"], running=["two"])
    assert progress.spent() == 0.5
    assert "1 of 2 runs done, 1 running" in progress.sentence()
    assert "best so far" in progress.sentence()


def test_a_folder_without_results(tmp_path: Path) -> None:
    with pytest.raises(ExeclabError, match=re.escape("it has no results.jsonl")):
        write_page(tmp_path)
    (tmp_path / "results.jsonl").write_text("{")
    with pytest.raises(ExeclabError, match="damaged"):
        write_page(tmp_path)
    (tmp_path / "results.jsonl").write_text('{"experiment": "addition"}\n')
    with pytest.raises(ExeclabError, match="without 'scale'"):
        write_page(tmp_path)


def test_a_finished_run_of_another_grid_is_not_taken_for_ours(tmp_path: Path) -> None:
    grid = [Planned("one", make_config("smoke", steps=10))]
    work(tmp_path / "runs" / "one", grid[0].config)
    engine = Fake(tmp_path, {"one": 0})
    assert run_grid(grid, tmp_path, engine, Watch()).done == ["one"]
    assert engine.starts == []
    with pytest.raises(ExeclabError, match="holds another run than the grid says"):
        run_grid([Planned("one", make_config("smoke", steps=20))], tmp_path, engine, Watch())
    begun = json.loads((tmp_path / "runs" / "one" / "config.json").read_text())["config"]["precision"]
    other = {"float32": "bfloat16", "bfloat16": "float32"}[begun]
    with pytest.raises(
        ExeclabError, match="holds another run than the grid says"
    ):  # what is said outright is not `auto`
        run_grid([Planned("one", make_config("smoke", steps=10, precision=other))], tmp_path, engine, Watch())


class Advancing(Fake):
    """An engine whose runs get further before they fail, for so many tries."""

    def __init__(self, folder: Path, failures: dict[str, int], advances: int) -> None:
        super().__init__(folder, failures)
        self.advances = advances

    def start(self, name: str) -> None:
        super().start(name)
        if len(self.starts) <= self.advances:
            saved = self.folder / "runs" / name / "checkpoints"
            saved.mkdir(parents=True, exist_ok=True)
            (saved / f"step-{len(self.starts):09d}-{0:016x}.safetensors").touch()


def test_a_try_that_got_further_does_not_count(tmp_path: Path) -> None:
    grid = make_grid("addition", "smoke")[:1]
    engine = Advancing(tmp_path, {grid[0].name: 99}, advances=7)
    progress = run_grid(grid, tmp_path, engine, Watch(), tries=3)
    assert list(progress.failed) == [grid[0].name]
    assert len(engine.starts) == 7 + 3


def test_the_reason_is_that_of_the_last_try(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "one.log").write_text("error: of long ago\n")
    process = processes.start(tmp_path, "one")  # there is no grid.json
    process.wait()
    assert "holds no grid of runs" in processes.reason(tmp_path, "one", process)
    process = processes.start(tmp_path, "one")
    process.kill()
    process.wait()
    assert processes.reason(tmp_path, "one", process) == "killed by signal 9"


def test_the_dry_run_tells_and_does_nothing(tmp_path: Path) -> None:
    """How near it is to the truth is measured by benchmarks/grids.py."""
    words = [*EXECLAB, "reproduce", "statistics", "--scale", "smoke", "--workers", "1", "--dry-run"]
    told = subprocess.run(words, capture_output=True, text=True, check=True, cwd=tmp_path).stdout
    assert "2 runs, 80,000 characters" in told
    assert told.count("program-2x1") == 2
    found = re.search(r"\((\d+) s\)", told)
    assert found
    assert int(found[1]) > 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("done", [pytest.param(1, marks=pytest.mark.long), 2])
def test_the_dry_run_leaves_out_what_is_done(done: int, tmp_path: Path) -> None:
    grid = make_grid("statistics", "smoke")
    write_grid(tmp_path, grid)
    write_rows([bare_row(run=planned.name) for planned in grid[:done]], tmp_path)
    words = [*EXECLAB, "reproduce", "statistics", "--scale", "smoke", "--workers", "1", "--dry-run", "--out", "."]
    told = subprocess.run(words, capture_output=True, text=True, check=True, cwd=tmp_path).stdout
    assert f"done already: {done} of 2 runs" in told
    assert told.count("program-2x1") == 2 - done


def test_on_a_terminal_one_line_is_redrawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages stay, the live line goes, and nothing in a name is taken for markup."""
    master, terminal = os.openpty()
    with os.fdopen(terminal, "w") as stderr:
        monkeypatch.setattr(sys, "stderr", stderr)
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setattr(time, "monotonic", iter(range(0, 1000, 2)).__next__)
        watch = Watch()
        watch.show(GridProgress(tmp_path, make_grid("addition", "smoke"), done=["a"]))
        watch.say("a message of [bold]run[/bold]")
        watch.close()
        watch.say("the end")
        monkeypatch.undo()
    shown = ""
    while "the end" not in shown:  # the terminal hands over what it has so far
        shown += os.read(master, 100_000).decode()
    os.close(master)
    assert "1 of 8 runs done, 0 running" in shown
    assert "\x1b[2K" in shown  # the line is erased
    assert "a message of [bold]run[/bold]\r\n" in shown
    assert shown.endswith("the end\r\n")
