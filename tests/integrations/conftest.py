"""A server of execlab for the harnesses to ask. It needs PyTorch, which most of their environments do not have."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv" / "bin" / "python"


@pytest.fixture(scope="session")
def endpoint() -> Iterator[str]:
    """The address of `execlab serve`, up to /v1; nothing else is reached."""
    if not PYTHON.exists():
        pytest.skip("there is no .venv to serve from; make setup")
    os.environ |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "OPENAI_API_KEY": "none", "LOCAL_API_KEY": "none"}
    process = subprocess.Popen(
        [PYTHON, "-m", "execlab", "serve", "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    try:
        assert process.stdout
        yield process.stdout.readline().split(" at ", 1)[1].split("/ ", 1)[0] + "/v1"
    finally:
        process.terminate()
        process.communicate()


@pytest.fixture(scope="session")
def true_accuracy() -> float:
    """The exact match of a network that is often wrong, on 200 rows, by `execlab evaluate`."""
    import json

    model = ROOT / "src" / "execlab" / "playground" / "models" / f"{NETWORK}.safetensors"
    words: list[str | Path] = [PYTHON, "-m", "execlab", "evaluate", model, "--count", str(COUNT), "--json"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(words, capture_output=True, text=True, check=True, env=environment)
    return float(json.loads(done.stdout)["exact_match"]["value"])


NETWORK = "addition-4-baseline"
COUNT = 200
