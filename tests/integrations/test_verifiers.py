"""verifiers, by its own commands, over the protocol."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("verifiers", reason="verifiers is not installed; make test-integrations")

BIN = Path(sys.executable).parent
COUNT = 20  # each is a process of its own; test_in_process.py scores 200


@pytest.fixture(scope="module", autouse=True)
def _uv() -> None:
    """vf-eval runs its harness as a script of uv, which fetches the packages of the script once."""
    if not shutil.which("uv", path=f"{BIN}:{os.environ['PATH']}"):
        pytest.skip("uv is not installed, and vf-eval would fetch it")


@pytest.mark.parametrize(("model", "reward"), [("oracle", 1.0), ("off-by-one", 0.0)])
def test_the_oracle_is_right(endpoint: str, model: str, reward: float, tmp_path: Path) -> None:
    words = ["execlab-verifiers", "--env.taskset.split", "test", "--env.taskset.nesting", "2", "-m", model]
    words += ["--env.agent.harness.id", "null", "--env.agent.runtime.type", "subprocess", "-n", str(COUNT), "-r", "1"]
    words += ["--client.base-url", endpoint, "--client.api-key-var", "OPENAI_API_KEY", "--no-push", "--no-rich"]
    words += ["--max-concurrent", "8", "-o", str(tmp_path)]
    environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}
    subprocess.run([BIN / "vf-eval", *words], check=True, capture_output=True, cwd=tmp_path, env=environment)
    (traces,) = tmp_path.rglob("traces.jsonl")
    episodes = [json.loads(line) for line in traces.read_text().splitlines()]
    assert len(episodes) == COUNT
    assert all(trace["rewards"]["correct"]["score"] == reward for each in episodes for trace in each["traces"])
