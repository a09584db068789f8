"""verifiers, by its own commands, over the protocol."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("verifiers", reason="verifiers is not installed; make test-integrations")

BIN = Path(sys.executable).parent


@pytest.mark.parametrize(("model", "reward"), [("oracle", 1.0), ("off-by-one", 0.0)])
def test_the_oracle_is_right(endpoint: str, model: str, reward: float, tmp_path: Path) -> None:
    words = ["execlab-verifiers", "--env.taskset.split", "test", "--env.taskset.nesting", "2", "-m", model]
    words += ["--env.agent.harness.id", "null", "--env.agent.runtime.type", "subprocess", "-n", "200", "-r", "1"]
    words += ["--client.base-url", endpoint, "--client.api-key-var", "OPENAI_API_KEY", "--no-push", "--no-rich"]
    words += ["--max-concurrent", "8", "-o", str(tmp_path)]
    subprocess.run([BIN / "vf-eval", *words], check=True, capture_output=True, cwd=tmp_path)
    (traces,) = tmp_path.rglob("traces.jsonl")
    rewards = [json.loads(line)["rewards"] for line in traces.read_text().splitlines()]
    assert len(rewards) == 200
    assert all(each["correct"] == reward for each in rewards)
