"""The compiled recurrence's cache and compiler: damage, strangers and odd machines cost the kernel, not the command.

Most of it runs in processes of its own, as a damaged library would end this one. For speed they have no torch, and a
compiler that hands out a library made before.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from execlab.models import native

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Load = Callable[[str], native.Native | str]

ALONE = """
import os, pwd, subprocess, sys, types, execlab
package = types.ModuleType("execlab.models")
package.__path__ = [execlab.__path__[0] + "/models"]
sys.modules.update({"torch": types.ModuleType("torch"), "execlab.models": package})
from execlab.models import native
"""
SHOW = """
kernel = native.load()
print(kernel.name if isinstance(kernel, native.Native) else "none: " + kernel)
"""
PLANT = """
#include <stdio.h>
__attribute__((constructor)) static void run(void) { FILE *file = fopen("%s", "w"); if (file) fclose(file); }
"""
CC = shutil.which("cc") or shutil.which("gcc") or ""


def script(path: Path, lines: str) -> str:
    path.write_bytes(b"#!/bin/sh\n" + lines.encode("latin-1") + b"\n")
    path.chmod(0o755)
    return str(path)


def run(folder: Path, code: str = "", umask: int = -1, **settings: str) -> str:
    """The name of the kernel that a process loads; its cache and its temporary files are in `folder`."""
    (folder / "tmp").mkdir(exist_ok=True)
    (folder / "tmp").chmod(0o1777)
    env = os.environ | {"XDG_CACHE_HOME": str(folder), "TMPDIR": str(folder / "tmp")} | settings
    words = [sys.executable, "-c", f"{ALONE}{code}{SHOW}"]
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False, umask=umask, timeout=100)
    assert done.returncode == 0, done
    assert not list((folder / "tmp").iterdir())  # no process leaves a temporary folder
    return done.stdout.strip()


def libraries(cache: Path) -> list[Path]:
    return sorted(path for path in (cache / "execlab").iterdir() if path.suffix == ".so")


def mode(path: Path) -> int:
    return path.lstat().st_mode & 0o7777


def plant(cache: Path) -> tuple[Path, Path]:
    """Put a stranger's library in a kernel's place, with every digest right; it makes the second file if it runs."""
    (library,), marker = libraries(cache), cache / "marker"
    (cache / "plant.c").write_text(PLANT % marker)
    subprocess.run([CC, "-shared", "-fPIC", cache / "plant.c", "-o", cache / "plant"], check=True)
    digest = hashlib.sha256((cache / "plant").read_bytes()).hexdigest()
    old = library.with_name("-".join(library.stem.split("-")[:2]) + ".so")  # as they were called once
    planted = old.with_name(f"{old.stem}-{digest}.so")
    library.unlink()
    old.with_suffix(".sha256").write_text(digest)
    for path in (planted, old):
        shutil.copy(cache / "plant", path)
        path.chmod(0o600)
    return planted, marker


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A cache with the kernel in it, and the kernel's name; from then on CC is the quick compiler."""
    if isinstance(reason := native.load(), str) or not CC:
        pytest.skip(str(reason))
    folder = tmp_path_factory.mktemp("fresh")
    subprocess.run([CC, *native.FLAGS, "-O0", native.SOURCE, "-o", folder / "made"], check=True)
    lines = f"test $1 = --version && exec echo quick 1.0; for last do :; done; exec cp {folder}/made $last"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CC", script(folder / "quick", lines))
        yield folder, run(folder)


@pytest.fixture
def name(fresh: tuple[Path, str]) -> str:
    return fresh[1]


@pytest.fixture
def cache(fresh: tuple[Path, str], tmp_path: Path) -> Path:
    """A copy of that cache."""
    shutil.copytree(fresh[0] / "execlab", tmp_path / "execlab")
    return tmp_path


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Load]:
    """Load a small kernel with a compiler of this name, in this process and an empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    monkeypatch.setattr(native, "SOURCE", tmp_path / "small.c")
    functions = ("width", "threaded", "halves", "clip")
    native.SOURCE.write_text("".join(f"long execlab_{function}(void) {{ return 8; }}\n" for function in functions))

    def loaded(compiler: str) -> native.Native | str:
        monkeypatch.setenv("CC", compiler)
        native.load.cache_clear()
        return native.load()

    yield loaded
    native.load.cache_clear()


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "truncated": lambda data: data[: len(data) // 4],
    "zeros": lambda data: bytes(len(data)),
    "zeros at the end": lambda data: data[: len(data) // 8].ljust(len(data), b"\0"),
    "empty": lambda _: b"",
    "one bit": lambda data: data[:-1] + bytes([data[-1] ^ 1]),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_kernel_is_built_again(name: str, cache: Path, damage: str) -> None:
    """It is the same kernel again, not one of other flags."""
    (library,) = libraries(cache)
    data = library.read_bytes()
    library.write_bytes(DAMAGE[damage](data))
    assert run(cache) == name
    assert [path.read_bytes() for path in libraries(cache)] == [data]


def test_a_kernel_without_a_digest_is_built_again(name: str, cache: Path) -> None:
    (library,) = libraries(cache)
    planted, marker = plant(cache)
    planted.unlink()
    for path in (cache / "execlab").glob("*.sha256"):
        path.unlink()
    assert run(cache) == name
    assert not marker.exists()
    assert libraries(cache) == [library]


def test_a_whole_kernel_is_not_built_again(name: str, cache: Path) -> None:
    before = libraries(cache)[0].stat()
    assert run(cache) == name
    after = libraries(cache)[0].stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_no_two_sets_of_flags_have_the_same_name(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    ways = [(*way, *wide) for way in native.WAYS for wide in (native.WIDE, ())]
    monkeypatch.setattr(native, "WIDE", ())
    names: list[str] = []
    for way in ways:
        monkeypatch.setattr(native, "WAYS", (way,))
        kernel = load(CC)
        names += [kernel.name] if isinstance(kernel, native.Native) else []  # not every processor knows every flag
    assert len(set(names)) == len(names)


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root becomes others")
def test_a_user_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor an entry in the list of users."""
    monkeypatch.delenv("HOME", raising=False)
    become = "os.setgroups([]), os.setgid(54321), os.setuid(54321)"
    with tempfile.TemporaryDirectory() as named:  # others may not look into those of pytest
        folder = Path(named)
        folder.chmod(0o711)
        compiler = script(folder / "odd", "test $1 = --version && echo 1")
        assert "did not compile" in run(folder, become, XDG_CACHE_HOME="", CC=compiler)


def test_a_relative_cache_counts_as_none(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(tmp_path, XDG_CACHE_HOME="relative", HOME=str(tmp_path / "home")) == name
    assert not (tmp_path / "relative").exists()
    assert libraries(tmp_path / "home" / ".cache")


ODD = {
    "exit 0": "does not print its version",
    "echo 'compilateur fran\xe7ais 1.0'; test $1 = --version": "did not compile",
    "kill -9 $$": "does not run",
    "exec sleep 60": "longer than 0.3 seconds",
    "test $1 = --version && exec echo 1; echo >> $0.times; exec sleep 60": "longer than 0.3 seconds",
}


@pytest.mark.parametrize(("lines", "reason"), ODD.items())
def test_odd_compilers(load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: str, reason: str) -> None:
    for limit in ("VERSION_SECONDS", "COMPILE_SECONDS"):
        monkeypatch.setattr(native, limit, 0.3 if "sleep" in lines else 20.0, raising=False)
    assert reason in str(load(script(tmp_path / "odd", lines)))
    if "times" in lines:
        assert (tmp_path / "odd.times").read_text() == "\n"  # the other flags would take as long


def test_compilers_that_cannot_be_run(load: Load, tmp_path: Path) -> None:
    path = tmp_path / "odd"
    path.write_bytes(b"\x7fELF and no more")
    assert str(path) in str(load(str(path)))
    path.chmod(0o755)
    assert "does not run" in str(load(str(path)))
    assert "is not there" in str(load(str(tmp_path)))
    assert "is not there" in str(load("no-such-compiler -O2"))
    for malformed in ('"', "gcc '-O2", "''"):
        assert repr(malformed) in str(load(malformed))
    assert "\udcff" not in str(load("\udcff"))  # it could not be printed


def test_a_compiler_of_several_words(load: Load, tmp_path: Path) -> None:
    kernel, plain = load(f"{CC} -O2"), load(CC)
    assert isinstance(kernel, native.Native), kernel
    assert isinstance(plain, native.Native), plain
    assert kernel.name == plain.name.replace("vector, ", "vector, -O2 ")
    (tmp_path / "a folder").mkdir()
    (tmp_path / "a folder" / "cc").symlink_to(CC)
    assert isinstance(load(str(tmp_path / "a folder" / "cc")), native.Native)


def test_a_library_that_cannot_be_loaded(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the file system runs no code, and where it does not say so either."""

    def refuse(path: str) -> None:
        raise OSError(f"{path}: failed to map segment from shared object")

    monkeypatch.setattr(ctypes, "CDLL", refuse)
    assert "failed to map" in str(load(CC))
    monkeypatch.setattr(native, "_runs_code", lambda _: False)
    assert "may hold code that runs" in str(load(CC))


def test_importing_and_making_a_model_compile_nothing(tmp_path: Path) -> None:
    env = os.environ | {"XDG_CACHE_HOME": str(tmp_path), "CC": script(tmp_path / "cc", "touch $0.called")}
    code = "from execlab.models.lstm import LSTM, native; LSTM(41, LSTM.Options(layers=1, cells=16, embedding=8))"
    subprocess.run([sys.executable, "-c", code], env=env, check=True)
    assert [path.name for path in tmp_path.iterdir()] == ["cc"]


STRANGERS: dict[str, Callable[[Path], None]] = {
    "write": lambda path: path.chmod(0o777),
    "own": lambda path: os.chown(path, 1234, 1234),
    "link": lambda path: path.symlink_to(path.rename(path.with_name(f"{path.name}.moved"))),
}
PAIRS = [("parent", "write"), *((what, do) for what in ("folder", "files") for do in STRANGERS)]


@pytest.mark.parametrize(("what", "do"), PAIRS)
def test_nothing_is_loaded_that_strangers_may_have_planted(name: str, cache: Path, what: str, do: str) -> None:
    if do == "own" and os.getuid():
        pytest.skip("only root makes files of others")
    (planted, marker), folder = plant(cache), cache / "execlab"
    for path in {"parent": [cache], "folder": [folder], "files": list(folder.iterdir())}[what]:
        STRANGERS[do](path)
    assert run(cache) == name
    assert not marker.exists()
    if what == "parent" or (what == "folder" and do != "write"):
        assert planted.exists()  # the folder is left alone
    else:
        assert [mode(path) for path in (folder, *libraries(cache))] == [0o700, 0o600]


@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_a_new_cache_is_closed_to_others(name: str, tmp_path: Path, umask: int) -> None:
    for _ in range(2):
        assert run(tmp_path, umask=umask, XDG_CACHE_HOME=str(tmp_path / "cache")) == name
    (library,) = libraries(tmp_path / "cache")
    modes = [mode(path) for path in (tmp_path / "cache", tmp_path / "cache" / "execlab", library)]
    assert modes == [0o700, 0o700, 0o600]


def test_no_temporary_folder_is_left(name: str, tmp_path: Path) -> None:
    """Not where there is no cache either, nor where every attempt fails; `run` looks for it."""
    (tmp_path / "execlab").write_text("in the way")
    assert run(tmp_path) == name
    assert "did not compile" in run(tmp_path, CC=script(tmp_path / "odd", "test $1 = --version && echo 1"))


def test_on_a_full_disk_a_kernel_is_used_from_where_it_was_made(name: str, cache: Path) -> None:
    libraries(cache)[0].unlink()
    full = "def refuse(*_, **__): raise OSError(28, 'No space left on device')\nnative.write_atomically = refuse"
    assert run(cache, full) == name
    assert not libraries(cache)
