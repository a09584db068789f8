"""Packages outside execlab, in a folder where commands and this process can import them."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from forking import Shell, shell

from execlab import registry

if TYPE_CHECKING:
    from collections.abc import Iterator

LABS = ("mylab", "oddlab", "wronglab")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds the packages."""
    where = tmp_path_factory.mktemp("labs")
    for lab in LABS:
        shutil.copytree(Path(__file__).parent / lab, where / lab, ignore=shutil.ignore_patterns("__pycache__"))
    return where


@pytest.fixture(scope="module")
def execlab(folder: Path) -> Iterator[Shell]:
    """Commands in that folder."""
    with shell(folder) as started:
        yield started


@pytest.fixture
def imports(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """This process in that folder; nothing is trusted yet, and afterwards nothing of the packages is left."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(registry, "_trusted", {})
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield
    for name, module in [*sys.modules.items()]:
        if str(getattr(module, "__file__", "")).startswith(str(folder)):
            del sys.modules[name]
