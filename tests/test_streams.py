"""Standard streams that are closed, full or read by `head`: never a traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from execlab.training.config import make_config
from execlab.training.loop import train

if TYPE_CHECKING:
    from pathlib import Path

EXECLAB = f"{sys.executable} -m execlab"


def shell(line: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False, env={**os.environ, **env})


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train(make_config("smoke", steps=10, test_count=4), tmp_path_factory.mktemp("runs") / "run")


def test_head_has_seen_enough() -> None:
    done = shell(f"set -o pipefail; {EXECLAB} sample --count 5000 | head -n 3")
    assert done.returncode == 0
    assert done.stderr == ""
    assert done.stdout.count("\n") == 3


def test_head_of_a_table(run: Path) -> None:
    done = shell(f"set -o pipefail; {EXECLAB} evaluate {run} --count 50 | head -n 1")
    assert (done.returncode, done.stderr) == (0, "")


def test_standard_error_is_closed(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "closed"
    done = shell(f"{EXECLAB} train --preset smoke --steps 10 --test-count 4 --out {out} 2>&-")
    assert done.returncode == 0
    assert (out / "report.json").exists()
    for line in (out / "metrics.jsonl").read_text().splitlines():
        assert json.loads(line)["step"] == 10  # no messages in a file
    assert shell(f"{EXECLAB} predict {run} nonsense 2>&-").returncode == 2
    assert shell(f"{EXECLAB} audit --count 50 2>&-").returncode == 0


def test_standard_error_is_a_pipe_without_a_reader() -> None:
    done = shell(f"({EXECLAB} sample --length 0; echo status $? >&3) 3>&1 2> >(true)")
    assert "status 2" in done.stdout


@pytest.mark.parametrize("value", ["abc", "-1"])
def test_a_wrong_world_size_is_a_sentence(value: str, tmp_path: Path) -> None:
    done = shell(f"{EXECLAB} train --preset smoke --out {tmp_path / 'run'}", WORLD_SIZE=value)
    assert done.returncode == 2
    assert done.stderr.startswith("execlab: WORLD_SIZE is ")
    assert not (tmp_path / "run").exists()
