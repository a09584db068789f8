"""What a run's record says of where it ran."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING

from execlab.training import hardware
from execlab.training.config import make_config
from execlab.training.runs import About

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


AS = ("-c", "user.name=a", "-c", "user.email=a@b")


def test_the_commit_is_that_of_the_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that are written while a grid goes on do not make it dirty."""
    code = tmp_path / "src" / "execlab" / "training" / "hardware.py"
    code.parent.mkdir(parents=True)
    code.write_text("1")
    (tmp_path / "rows").write_text("1")
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "execlab"\n')
    monkeypatch.setattr(hardware, "__file__", str(code))
    assert hardware.commit() is None
    for words in (["init", "-q"], ["add", "-A"], [*AS, "commit", "-qm", "a"]):
        subprocess.run(["git", "-C", str(tmp_path), *words], check=True)
    found = hardware.commit()
    assert found
    assert len(found) == 12
    (tmp_path / "rows").write_text("2")
    assert hardware.commit() == found
    code.write_text("2")
    assert hardware.commit() == f"{found}-dirty"


def test_another_repository_is_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """execlab installed in a virtual environment inside somebody's checkout, whose fsmonitor would run."""
    marker = tmp_path / "was-run"
    hook = tmp_path / "hook.sh"
    hook.write_text(f"#!/bin/sh\ntouch {marker}\n")
    hook.chmod(0o755)
    for words in (["init", "-q"], ["config", "core.fsmonitor", str(hook)], ["add", "-A"], [*AS, "commit", "-qm", "a"]):
        subprocess.run(["git", "-C", str(tmp_path), *words], check=True)
    marker.unlink(missing_ok=True)
    for place in (tmp_path / ".venv" / "lib" / "python3" / "site-packages", tmp_path / "src"):  # installed, vendored
        code = place / "execlab" / "training" / "hardware.py"
        code.parent.mkdir(parents=True)
        code.write_text("1")
        monkeypatch.setattr(hardware, "__file__", str(code))
        assert hardware.commit() is None
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "theirs"\n')
    assert hardware.commit() is None
    assert not marker.exists()


def test_a_resumed_run_names_another_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    config = hardware.resolve(make_config("smoke"))
    about = About(config, 1, hardware.versions(config), "0123456789ab")
    monkeypatch.setattr(hardware, "commit", lambda: "ba9876543210")
    (sentence,) = hardware.differences(about, config)
    assert "0123456789ab" in sentence
    assert "ba9876543210" in sentence
    assert hardware.differences(replace(about, commit="ba9876543210"), config) == []
