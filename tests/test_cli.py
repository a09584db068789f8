"""The commands as a user runs them: real processes, good input and bad."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from execlab import __version__
from execlab.data.splits import DATA_VERSION, SPLITS

if TYPE_CHECKING:
    from pathlib import Path

EXECLAB = [sys.executable, "-m", "execlab"]


def run(*arguments: str, text: str = "", status: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([*EXECLAB, *arguments], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    return done


def complaint(*arguments: str, text: str = "", status: int = 2) -> str:
    """The one sentence that a bad call prints."""
    done = run(*arguments, text=text, status=status)
    assert done.stdout == ""
    assert done.stderr.startswith("execlab: ")
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr
    return done.stderr


SAMPLE = (
    "sample",
    "--task",
    "program",
    "--length",
    "4",
    "--nesting",
    "3",
    "--split",
    "test",
    "--count",
    "5",
    "--seed",
    "7",
)


def test_sample_shows_blocks() -> None:
    blocks = run(*SAMPLE).stdout.strip().split("\n\n")
    assert len(blocks) == 5
    for block in blocks:
        head, *program, target = block.split("\n")
        assert head == "Input:"
        assert target == f"Target: {run('execute', '-', text=chr(10).join(program)).stdout.strip()}"


def test_sample_rows() -> None:
    rows = [json.loads(line) for line in run(*SAMPLE, "--jsonl", "--scramble", "3").stdout.splitlines()]
    assert [row["index"] for row in rows] == list(range(5))
    keys = ["task", "length", "nesting", "split", "seed", "index", "input", "target", "options", "data_version"]
    for row in rows:
        assert list(row) == keys
        assert (row["task"], row["length"], row["nesting"], row["split"], row["seed"]) == ("program", 4, 3, "test", 7)
        assert row["options"] == {"dialect": "released", "layout": "line", "strategy": "baseline", "scramble": 3}
        assert row["data_version"] == DATA_VERSION


def test_fewer_samples_are_the_first_ones() -> None:
    many = run("sample", "--jsonl", "--count", "200").stdout.splitlines()
    assert run("sample", "--jsonl", "--count", "3").stdout.splitlines() == many[:3]
    assert run("sample", "--count", "0").stdout == ""


@pytest.mark.parametrize(
    "flags",
    [
        ("--dialect", "appendix"),
        ("--layout", "indented"),
        ("--strategy", "mix"),
        ("--task", "memorization", "--invert", "--double"),
        ("--task", "addition", "--length", "50"),
        ("--task", "memorization", "--length", "200"),
        ("--length", "50", "--nesting", "10"),
    ],
)
def test_flags(flags: tuple[str, ...]) -> None:
    assert run("sample", *flags, "--jsonl").stdout != run("sample", "--jsonl").stdout
    assert "passed" in run("audit", *flags, "--count", "50").stdout


def test_execute_and_trace(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("\ufeffa=2\r\nfor x in range(3):\r\n  a*=a\r\nprint(a)\r\n", encoding="utf-8")
    assert run("execute", str(program)).stdout == "256\n"
    traced = run("execute", "--trace", str(program)).stdout
    assert "a=16  x=1" in traced
    assert traced.endswith("256\n")


def test_audit_as_json() -> None:
    found = json.loads(
        run("audit", "--task", "addition", "--length", "3", "--count", "100", "--cpython", "--json").stdout
    )
    assert found["passed"] is True
    assert found["overlaps"] == {"train/validation": 0, "train/test": 0, "validation/test": 0}
    assert set(found["splits"]) == set(SPLITS)
    assert found["splits"]["test"]["cpython_disagreements"] == 0


def test_a_failed_audit_has_status_1() -> None:
    lie = (
        "import sys; from execlab.cli import main; from execlab.tasks.addition import AdditionTask;"
        "AdditionTask.solve = lambda self, input: '0'; sys.argv[1:] = ['audit', '--task', 'addition', '--count', '20'];"
        "main()"
    )
    done = subprocess.run([sys.executable, "-c", lie], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "FAILED" in done.stdout


def test_stats() -> None:
    assert "paper" in run("stats", "--count", "500").stdout
    assert run("stats", "--count", "1").stdout
    for task in ("addition", "memorization"):
        assert task in run("stats", "--task", task, "--count", "100").stdout
    (row,) = json.loads(run("stats", "--count", "200", "--length", "4", "--nesting", "2", "--json").stdout)
    assert (row["length"], row["nesting"], row["samples"]) == (4, 2, 200)


def test_export(tmp_path: Path) -> None:
    out = tmp_path / "data"
    assert "train.jsonl" in run("export", "--out", str(out), "--count", "10", "--train", "20").stdout
    assert [len((out / f"{split}.jsonl").read_text().splitlines()) for split in SPLITS] == [20, 10, 10]
    assert run("export", "--out", str(out), "--count", "10", "--force").stdout
    sampled = run("sample", "--split", "validation", "--count", "10", "--jsonl").stdout
    assert (out / "validation.jsonl").read_text() == sampled


def test_help_and_version() -> None:
    assert run("--version").stdout == f"execlab, version {__version__}\n"
    assert run("--help").stdout == run().stdout
    for command in ("sample", "execute", "audit", "stats", "export"):
        assert command in run("--help").stdout
        assert "Usage: execlab" in run(command, "-h").stdout


DRAWING = [("sample",), ("audit",), ("stats",), ("export", "--out", "unused")]


@pytest.mark.parametrize("command", DRAWING)
@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (("--task", "sorting"), "there is no task 'sorting'; choose program, addition, memorization, or an import"),
        (("--length", "0"), "length is 0 for the task program, but it must be from 1 to 50"),
        (("--length", "51"), "length is 51"),
        (("--task", "memorization", "--length", "201"), "from 1 to 200"),
        (("--nesting", "0"), "nesting is 0"),
        (("--length", "4", "--nesting", "11"), "from 1 to 10"),
        (("--task", "addition", "--length", "4", "--nesting", "2"), "it can only be 1"),
        (("--count", "-1"), "-1 is not in the range x>=0"),
        (("--count", "many"), "'many' is not a valid int"),
        (("--seed", "-1"), "seed is -1"),
        (("--scramble", "-1"), "scramble is -1"),
        (("--invert",), "no option 'invert'"),
        (("--dialect", "lua"), "is not one of"),
        (("--colour",), "No such option"),
    ],
)
def test_bad_descriptions(command: tuple[str, ...], flags: tuple[str, ...], sentence: str, tmp_path: Path) -> None:
    if command[0] == "export":
        command = ("export", "--out", str(tmp_path / "never"))
    assert sentence in complaint(*command, *flags)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("teach",), "No such command"),
        (("execute",), "Missing argument 'FILE'"),
        (("execute", "nowhere.py"), "nowhere.py: No such file"),
        (("execute", "."), "Is a directory"),
        (("export",), "Missing option '--out'"),
        (("export", "--out", "x", "--format", "csv"), "'csv' is not one of 'jsonl', 'parquet'"),
        (("export", "--out", "/dev/null/x"), "Not a directory"),
        (("export", "--out", "/proc/nowhere"), "/proc/nowhere"),
        (("sample", "--strategy", "naive"), "is not one of 'baseline', 'mix'"),
        (("audit", "--task", "memorization", "--cpython"), "--cpython is for tasks whose input is Python"),
        (("stats", "--count", "0"), "at least 1 sample"),
        (("audit", "--count", "0"), "at least 1 sample"),
    ],
)
def test_bad_calls(arguments: tuple[str, ...], sentence: str) -> None:
    assert sentence in complaint(*arguments)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "line 1, column 1"),
        ("print(1)\nprint(2)", "line 2, column 1"),
        ("print(" + "9" * 20_000, "more than 10,000 characters"),
        ("print(\x00)", "U+0000"),
    ],
)
def test_bad_programs(text: str, sentence: str) -> None:
    assert sentence in complaint("execute", "-", text=text)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    file = tmp_path / "noise"
    file.write_bytes(b"print(\xff\xfe1)")
    assert "line 1, column 7" in complaint("execute", str(file))
    assert "more than 10,000" in complaint("execute", "/dev/zero")
    file.write_bytes(b"# \xff\nprint(1)")
    assert "line 1, column 3: the character U+DCFF" in complaint("execute", str(file))


@pytest.mark.parametrize(
    "command", [("audit", "--count", "50"), ("stats", "--count", "50"), ("execute", "--trace", "-")]
)
def test_a_reader_that_was_never_there(command: tuple[str, ...]) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [*EXECLAB, *command], input="print(1)", stdout=write, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (0, "")


def test_closed_streams() -> None:
    for shell in (f"{sys.executable} -m execlab sample >&-", f"{sys.executable} -m execlab execute - <&-"):
        done = subprocess.run(["sh", "-c", shell], stderr=subprocess.PIPE, text=True, check=False)
        assert (done.returncode, done.stderr) == (2, "execlab: standard input and output must be open\n")


def test_traces_of_awkward_programs() -> None:
    many = "a=" + "9" * 4000 + "\n" + "".join(f"v{i}=a;" for i in range(400)) + "\nfor x in range(1000):a-=1\nprint(1)"
    shown = run("execute", "--trace", "-", text=many).stdout
    assert "<about 4000 digits>" in shown
    assert "more steps" in shown
    assert "# [/a] :smile:" in run("execute", "--trace", "-", text="print(1) # [/a] :smile:").stdout


@pytest.mark.parametrize("command", [("sample", "--count", "100000"), ("sample", "--jsonl", "--count", "100000")])
def test_a_reader_that_goes_away(command: tuple[str, ...]) -> None:
    with subprocess.Popen([*EXECLAB, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        errors = process.stderr.read().decode()
        assert process.wait() == 0
    assert errors == ""


@pytest.mark.parametrize("command", [("sample",), ("audit", "--count", "10"), ("stats", "--count", "10"), ("--help",)])
def test_standard_output_on_a_full_disk(command: tuple[str, ...]) -> None:
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        done = subprocess.run([*EXECLAB, *command], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "execlab: No space left on device\n"


def test_interrupt() -> None:
    process = subprocess.Popen([*EXECLAB, "audit", "--count", "10000000"], stderr=subprocess.PIPE, text=True)
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    assert process.returncode == 130
    assert errors.strip() == "execlab: interrupted"


def test_an_unwritable_folder(tmp_path: Path) -> None:
    """A file where the folder should be; root may write anywhere, so permissions alone prove nothing here."""
    (tmp_path / "file").write_text("")
    assert "File exists" in complaint("export", "--out", str(tmp_path / "file"))
    if os.geteuid() != 0:
        (tmp_path / "closed").mkdir(mode=0o500)
        assert "Permission denied" in complaint("export", "--out", str(tmp_path / "closed"))


def test_progress_is_a_line_now_and_then_where_there_is_no_terminal() -> None:
    script = (
        "import sys, execlab.progress as p; p.SECONDS_BETWEEN_LINES = 0.0\n"
        "with p.progress('count', 100) as advance: advance(40)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stderr.startswith("count: 40 of 100 rows, ")
