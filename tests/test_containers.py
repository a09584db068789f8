"""What containers and odd machines do to a program: every command ends well, or in one sentence."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parent / "support" / "commands.py"
CHECKOUT = Path(__file__).parent.parent
COMMANDS = ("train", "resume", "evaluate", "predict", "serve", "report")


def namespaces() -> bool:
    """Whether this user may mount file systems and map users, in namespaces of its own."""
    words = ["unshare", "--mount", "--user", "--map-user=54321", "true"]
    return bool(shutil.which("unshare")) and os.geteuid() == 0 and subprocess.run(words, check=False).returncode == 0


needs_namespaces = pytest.mark.skipif(not namespaces(), reason="needs root and unshare")


def results(folder: Path) -> Path:
    """A small folder of results to report on."""
    folder.mkdir(parents=True)
    shutil.copy(CHECKOUT / "results" / "headline" / "results.jsonl", folder)
    return folder


def run(place: Path, *, before: str = "", prefix: tuple[str, ...] = (), **env: str | None) -> dict[str, dict[str, Any]]:
    """All commands in an environment; `before` is shell to run first, `prefix` what starts the shell."""
    runs, scratch = place / "runs", place / "scratch"
    scratch.mkdir(parents=True)
    runs.mkdir()
    report = results(place / "results")
    whole = {name: value for name, value in {**os.environ, "OMP_NUM_THREADS": "1", **env}.items() if value is not None}
    words = [sys.executable, str(SCRIPT), str(runs / "run"), str(scratch), str(report)]
    shell = [*prefix, "sh", "-c", f'{before}\nexec "$@"', "sh", *words]
    done = subprocess.run(shell, capture_output=True, check=False, env=whole, cwd=place)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    outcome: dict[str, dict[str, Any]] = json.loads(done.stdout)
    assert tuple(outcome) == COMMANDS
    for name, one in outcome.items():
        assert "Traceback" not in one["err"], (name, one["err"])
        assert one["status"] in (0, 2), (name, one)
        if one["status"] == 2:  # the last line says why
            assert one["err"].strip().split("\n")[-1].startswith("execlab: "), (name, one)
    return outcome


def all_well(outcome: dict[str, dict[str, Any]]) -> None:
    assert {name: one["status"] for name, one in outcome.items()} == dict.fromkeys(COMMANDS, 0), outcome


def kernel(place: Path) -> str:
    kernel: str = json.loads((place / "runs" / "run" / "config.json").read_text())["versions"].get("kernel", "torch")
    return kernel


def script(path: Path, text: str) -> str:
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def test_no_home(tmp_path: Path) -> None:
    all_well(run(tmp_path, HOME=None, XDG_CACHE_HOME=None))


@needs_namespaces
def test_a_user_without_a_name(tmp_path: Path) -> None:
    prefix = ("unshare", "--user", "--map-user=54321", "--")
    all_well(run(tmp_path, prefix=prefix, HOME=None, XDG_CACHE_HOME=None, USER=None, LOGNAME=None))


@needs_namespaces
def test_a_checkout_that_cannot_be_written_to(tmp_path: Path) -> None:
    before = f"set -e; mount --bind '{CHECKOUT}' '{CHECKOUT}'; mount -o remount,ro,bind '{CHECKOUT}'; set +e"
    before += f"; ! touch '{CHECKOUT}/written' || exit 9"
    all_well(run(tmp_path, before=before, prefix=("unshare", "--mount", "--")))


def test_a_strict_umask(tmp_path: Path) -> None:
    all_well(run(tmp_path, before="umask 077"))
    modes = {path.stat().st_mode & 0o077 for path in (tmp_path / "runs" / "run").rglob("*")}
    assert modes == {0}


def test_the_plainest_locale_and_a_path_in_unicode(tmp_path: Path) -> None:
    place = tmp_path / "läufe-走"
    all_well(run(place, LANG="C", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0", PYTHONIOENCODING=None))
    assert (place / "runs" / "run" / "learning_curve.png").exists()


@needs_namespaces
def test_temporary_files_where_no_code_may_run(tmp_path: Path) -> None:
    (tmp_path / "noexec").mkdir()
    before = f"mount -t tmpfs -o noexec tmpfs '{tmp_path}/noexec' || exit 9"
    outcome = run(
        tmp_path / "place",
        before=before,
        prefix=("unshare", "--mount", "--"),
        HOME=None,
        XDG_CACHE_HOME=None,
        TMPDIR=str(tmp_path / "noexec"),
    )
    all_well(outcome)


def path_without_compiler(folder: Path) -> str:
    """A PATH with a shell and git, and nothing that compiles."""
    folder.mkdir()
    for name in ("sh", "git"):
        if where := shutil.which(name):
            (folder / name).symlink_to(where)
    return str(folder)


def test_no_compiler(tmp_path: Path) -> None:
    path = path_without_compiler(tmp_path / "bin")
    all_well(run(tmp_path / "place", CC=None, PATH=path, XDG_CACHE_HOME=str(tmp_path / "cache")))
    assert kernel(tmp_path / "place").startswith("torch")


def test_a_broken_compiler(tmp_path: Path) -> None:
    """It says that all went well, in Latin-1, and wrote nothing; tests/models has more of them."""
    broken = script(tmp_path / "cc", "#!/bin/sh\nprintf 'gcc f\\374r alle\\n'; exit 0\n")
    place = tmp_path / "place"
    all_well(run(place, CC=broken, XDG_CACHE_HOME=str(tmp_path / "cache")))
    assert kernel(place).startswith("torch")


@needs_namespaces
def test_a_full_disk(tmp_path: Path) -> None:
    """The run's folder on a disk of 64 KB: training ends in a sentence, and nothing after it breaks."""
    place = tmp_path / "place"
    before = f"mount -t tmpfs -o size=64k tmpfs '{place}/runs' || exit 9"
    outcome = run(place, before=before, prefix=("unshare", "--mount", "--"))
    assert outcome["train"]["status"] == 2
    assert "No space left on device" in outcome["train"]["err"]
    assert outcome["resume"]["status"] == 2
    assert outcome["serve"]["status"] == outcome["report"]["status"] == 0
