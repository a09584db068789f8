"""The kernels in C (kernels/): compiled for this processor at first use, kept in the user's cache, and never
needed: without a compiler, or for a number of cells that they do not fit, PyTorch does the same.
So nothing here stops a command: `load` gives a reason instead of an error.

The compiled file is named by what it depends on (source, compiler, flags, processor), so a shared home directory serves
machines of several kinds, and by its own SHA-256: a damaged one is never loaded, as it would end the process. Nor is
one that somebody else could have written, as its code would run.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import shlex
import shutil
import stat
import subprocess
import tempfile
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from execlab.errors import ExeclabError
from execlab.files import read_regular, write_atomically
from execlab.models.kernel import INTEGER
from execlab.models.kernel import Native as Native

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SOURCE = Path(__file__).with_name("kernels") / "execlab.c"
FLAGS = (
    "-O3",
    "-std=c11",
    "-ffp-contract=fast",
    "-fno-math-errno",
    "-fno-strict-aliasing",
    "-fPIC",
    "-pthread",
    "-shared",
)
WAYS = (("-march=native",), ("-mcpu=native",), ())  # the first set that the compiler takes
WIDE = ("-mprefer-vector-width=512",)  # gcc on AVX-512, where it would rather use half of a register
VERSION_SECONDS = 20.0  # for a compiler to print its version
COMPILE_SECONDS = 120.0


@cache
def load() -> Native | str:
    """The compiled kernels, or the reason why there are none. It never raises."""
    try:
        return _load()
    except subprocess.TimeoutExpired as error:
        reason = f"{error.cmd[0]!r} takes longer than {error.timeout:g} seconds"
    except Exception as error:  # whatever it is, there is PyTorch
        reason = str(error) or repr(error)
    return _plain(reason)


def usable(cells: int) -> Native | str:
    """The compiled kernels if they fit so many cells, or the reason why they cannot be used."""
    native = load()
    if isinstance(native, Native) and cells % native.width:
        return f"{cells} cells are not a multiple of {native.width}"
    return native


def _load() -> Native:
    compiler, *words = _compiler()
    answer = _run([compiler, *words, "--version"], VERSION_SECONDS)
    release = (answer.stdout.strip().splitlines() or [""])[0][:200]
    if answer.returncode or not release:
        raise ExeclabError(f"{compiler!r} " + ("does not run" if answer.returncode else "does not print its version"))
    kept = _cache()
    if kept is None and not _runs_code(Path(tempfile.gettempdir())):
        raise ExeclabError(f"neither the user's cache nor {tempfile.gettempdir()!r} may hold code that runs")
    reasons = []
    for way in WAYS:
        for choice in ((*way, *WIDE), way):
            try:
                with _library(compiler, release, (*words, *FLAGS, *choice), kept) as path:
                    return _open(path, release, (*words, *choice))
            except (ExeclabError, OSError, AttributeError) as error:
                reasons.append(str(error))
    raise ExeclabError(reasons[-1])


def _compiler() -> list[str]:
    """The compiler's path, and the words that CC has after it."""
    named = os.environ.get("CC", "").strip()
    if not named:
        path = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
        if path is None:
            raise ExeclabError("there is no C compiler (cc, gcc or clang)")
        return [path]
    try:
        words = [named] if shutil.which(named) else shlex.split(named)  # a path may have spaces
    except ValueError as error:
        raise ExeclabError(f"CC is {named!r}, which is no command: {error}") from None
    path = shutil.which(words[0]) if words else None
    if path is None:
        raise ExeclabError(f"the compiler {named!r} of CC is not there or cannot be run")
    return [path, *words[1:]]


def _open(path: Path, release: str, choice: Sequence[str]) -> Native:
    library = ctypes.CDLL(str(path))
    for name in ("width", "threaded", "halves"):
        getattr(library, f"execlab_{name}").restype = INTEGER
    library.execlab_clip.restype = ctypes.c_double
    width = int(library.execlab_width())
    parts = [release, f"{width} floats per vector"]
    parts += [] if library.execlab_threaded() else ["one thread"]
    parts += [" ".join(choice)] if choice else []
    return Native(library, width, bool(library.execlab_halves()), _plain(", ".join(parts)))


@contextmanager
def _library(compiler: str, release: str, flags: tuple[str, ...], kept: Path | None) -> Iterator[Path]:
    """The compiled file: from the cache, or made and kept there, or made for now only. Once open, none is needed."""
    sources = [path.read_bytes() for path in sorted(SOURCE.parent.glob("*.[ch]"))]
    key = hashlib.sha256(repr((sources, release, flags, _processor())).encode()).hexdigest()[:16]
    present = sorted(kept.glob(f"kernels-{key}*")) if kept else []
    whole = next((path for path in present if _is_whole(path, key)), None)
    if whole is not None:
        yield whole
        return
    with tempfile.TemporaryDirectory(prefix="execlab-", ignore_cleanup_errors=True) as scratch:
        path = Path(scratch) / "kernels.so"
        answer = _run([compiler, *flags, str(SOURCE), "-o", str(path)], COMPILE_SECONDS)
        if answer.returncode:
            why = " ".join(answer.stderr.split())[:200]
            raise ExeclabError(f"{compiler!r} did not compile {SOURCE.name}: {why}")
        yield _keep(read_regular(path), key, kept, present) or path


def _keep(data: bytes, key: str, kept: Path | None, damaged: Sequence[Path]) -> Path | None:
    """Put a compiled file into the cache, in place of damaged ones, if that is possible."""
    if kept is None:
        return None
    path = kept / _file_name(key, data)
    try:
        write_atomically(path, data, root=kept)
        path.chmod(0o600)
        for other in damaged:
            if other != path:
                other.unlink(missing_ok=True)
    except (ExeclabError, OSError):  # a full disk, among others
        return path if _is_whole(path, key) else None
    return path


def _file_name(key: str, data: bytes) -> str:
    return f"kernels-{key}-{hashlib.sha256(data).hexdigest()}.so"


def _is_whole(path: Path, key: str) -> bool:
    """Whether a compiled file is this user's alone, and what was written."""
    try:
        status = path.lstat()
        mine = stat.S_ISREG(status.st_mode) and _is_mine(status) and not _is_open_to_others(status)
        return mine and path.name == _file_name(key, read_regular(path))
    except (ExeclabError, OSError):
        return False


def _cache() -> Path | None:
    """Where compiled files are kept, if it is a folder that nobody but this user may write to."""
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    try:
        root = named if named.is_absolute() else Path.home().absolute() / ".cache"
        folder = root / "execlab"
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
        exchangeable = hasattr(os, "getuid") and root.stat().st_mode & 0o1002 == 0o002  # anybody may rename in it
        if not stat.S_ISDIR(status.st_mode) or not _is_mine(status) or exchangeable:
            return None
        if _is_open_to_others(status):
            folder.chmod(0o700)
            if _is_open_to_others(folder.lstat()):
                return None
            for path in folder.glob("kernels-*"):  # anybody may have put it there
                path.unlink()
        return folder if os.access(folder, os.W_OK | os.X_OK) and _runs_code(folder) else None
    except (OSError, RuntimeError):  # RuntimeError: there is no home directory
        return None


def _is_mine(status: os.stat_result) -> bool:
    return not hasattr(os, "getuid") or status.st_uid == os.getuid()


def _is_open_to_others(status: os.stat_result) -> bool:
    return hasattr(os, "getuid") and bool(status.st_mode & 0o022)


def _runs_code(folder: Path) -> bool:
    """Whether a library can be loaded from a folder's file system, as far as the system says."""
    return not (hasattr(os, "ST_NOEXEC") and os.statvfs(folder).f_flag & os.ST_NOEXEC)


def _processor() -> str:
    if platform.system() == "Linux":
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join(sorted({line for line in lines if line.startswith(("flags", "Features", "model name"))}))
    return f"{platform.machine()} {platform.processor()}"


def _plain(text: str) -> str:
    """Text that can be printed: a path may hold bytes that are no characters."""
    return text.encode(errors="replace").decode()


def _run(words: list[str], seconds: float) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(  # noqa: S603 - a compiler
            words, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", errors="replace", timeout=seconds
        )
    except OSError as error:
        raise ExeclabError(f"{words[0]!r} does not run: {error.strerror or error}") from None
