"""The OpenAPI document against the server: requests of every kind, no 5xx, every answer as documented."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from serving import Server

CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"


def fuzz(server: Server, folder: Path, examples: int, phases: str, seed: int = 1) -> int:
    """How many requests were sent."""
    words = [sys.executable, "-m", "schemathesis.cli", "run", f"{server.url}/openapi.json", "--checks", CHECKS]
    words += ["--max-examples", str(examples), "--seed", str(seed), "--mode", "all", "--no-color"]
    words += ["--phases", phases]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    found = re.search(r"([\d,]+) generated, [\d,]+ passed", done.stdout)
    assert found, done.stdout[-3000:]
    return int(found[1].replace(",", ""))


def test_every_answer_is_as_documented(server: Server, tmp_path: Path) -> None:
    assert fuzz(server, tmp_path, 15, "examples,fuzzing") > 50


@pytest.mark.long
def test_every_answer_is_as_documented_over_5000_requests(server: Server, tmp_path: Path) -> None:
    sent = fuzz(server, tmp_path, 15, "examples,coverage")
    for seed in range(2, 20):  # in rounds: with many examples at once the time goes into improving them, not sending
        sent += fuzz(server, tmp_path, 120, "fuzzing", seed)
        if sent >= 5000:
            break
    assert sent >= 5000
