"""What the pages about language models show is run as it stands there, with the oracle as model."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from serving import Server, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

DOCS = Path(__file__).parents[1] / "docs"
PAGES = ("llm_evaluation.md", "llm_training.md")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving() as found:
        yield found


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page(page: str, server: Server, tmp_path: Path) -> None:
    blocks = re.findall(r"^```sh\n(.*?)^```", (DOCS / page).read_text(), re.MULTILINE | re.DOTALL)
    commands = [line for block in blocks for line in block.splitlines() if line.startswith("execlab ")]
    assert len(commands) >= 2
    for line in commands:
        words = line.replace("http://localhost:8000", server.url).split()[1:]
        environment = {**os.environ, "OPENAI_API_KEY": "none"}
        done = subprocess.run(
            [sys.executable, "-m", "execlab", *words],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, (line, done.stderr)
        if "--out runs/map" in line:
            assert done.stdout.count(": 100.00%") == 6
            assert (tmp_path / "runs" / "map" / "map.svg").exists()


@pytest.mark.parametrize("page", PAGES)
def test_the_code_of_a_page(page: str) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", (DOCS / page).read_text(), re.MULTILINE | re.DOTALL)
    assert blocks
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)


def test_from_installation_to_a_heat_map_in_five_commands() -> None:
    block = (DOCS / "llm_evaluation.md").read_text().split("```sh\n", 1)[1].split("```", 1)[0]
    assert len(block.strip().splitlines()) == 5
