"""What a run's record says of where it ran."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from execlab.training import runs

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_the_commit_is_that_of_the_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that are written while a grid goes on do not make it dirty."""
    code = tmp_path / "src" / "execlab" / "training" / "runs.py"
    code.parent.mkdir(parents=True)
    code.write_text("1")
    (tmp_path / "rows").write_text("1")
    monkeypatch.setattr(runs, "__file__", str(code))
    assert runs.commit() is None
    for words in (["init", "-q"], ["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"]):
        subprocess.run(["git", "-C", str(tmp_path), *words], check=True)
    found = runs.commit()
    assert found
    assert len(found) == 12
    (tmp_path / "rows").write_text("2")
    assert runs.commit() == found
    code.write_text("2")
    assert runs.commit() == f"{found}-dirty"
