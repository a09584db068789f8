"""docs/extending.md: its files are mylab's, and its commands do what it says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from forking import Shell

ROOT = Path(__file__).parents[2]
LAB = Path(__file__).parent / "mylab"
PAGE = (ROOT / "docs" / "extending.md").read_text()
MOST = 50  # lines of a file


class Block(NamedTuple):
    """A block of the page: the line before it, its kind, its text."""

    before: str
    kind: str
    text: str


BLOCKS = [Block(*found) for found in re.findall(r"([^\n]*)\n\n```(\w*)\n(.*?)```\n", PAGE, re.DOTALL)]


def commands(text: str) -> list[list[str]]:
    return [shlex.split(line)[1:] for line in text.replace("\\\n", "").splitlines()]


def test_the_files_on_the_page_are_those_of_mylab() -> None:
    shown = {name[1]: block.text for block in BLOCKS if (name := re.fullmatch(r"`mylab/(\w+\.py)`:", block.before))}
    files = {path.name: path.read_text() for path in LAB.glob("*.py") if path.name != "__init__.py"}
    assert shown == files
    assert set(files) == {"tasks.py", "teachers.py", "models.py", "experiments.py"}
    assert all(text.count("\n") < MOST for text in files.values())


def test_every_command_and_script_on_the_page_works(execlab: Shell) -> None:
    run = {"sh": 0, "console": 0, "python": 0}
    for block in BLOCKS:
        if block.before.startswith("`mylab/") or block.kind not in run:
            continue
        run[block.kind] += 1
        if block.kind == "sh":
            printed = [execlab.works(*words) for words in commands(block.text)]
        elif block.kind == "console":
            check_console(execlab, block.text)
        else:
            done = execlab.python(block.text)
            assert done.status == 0, done
            printed = [done.out]
        if "predict" in block.text and block.kind != "console":
            assert any("61" in out for out in printed)
    assert run == {"sh": 5, "console": 2, "python": 2}
    assert "Maximum-2x1-Bandit-0" in printed[0]
    assert {path.name for path in (execlab.folder / "runs").iterdir()} == {"bandit", "combined", "python", "grid"}


def check_console(execlab: Shell, text: str) -> None:
    """A line that begins with $ is a command; what follows is what it prints."""
    for part in text.split("$ ")[1:]:
        command, _, expected = part.partition("\n")
        done = execlab(*shlex.split(command)[1:])
        assert done.out + done.err == expected
        assert done.status == 2


def test_readme_leads_to_the_page() -> None:
    assert "(docs/extending.md)" in (ROOT / "README.md").read_text()
