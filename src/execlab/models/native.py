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
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from execlab.errors import ExeclabError
from execlab.files import read_regular, write_atomically

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from torch import Tensor

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
INTEGER = ctypes.c_int64
POINTER = ctypes.c_void_p
CALLBACK = ctypes.CFUNCTYPE(None)
# The struct of kernels/lstm.h.
LAYER = (
    *("weight_ih", "weight_hh", "bias", "h0", "c0", "h", "gates", "c", "squashed", "last_h", "last_c"),
    *("panels_ih", "panels_hh", "above", "dh", "dc", "change", "before", "below", "d_ih", "d_hh", "d_below"),
)


@dataclass(frozen=True)
class Native:
    """The compiled kernels, and how many threads share their work."""

    library: ctypes.CDLL
    width: int  # the number of cells must be a multiple of it
    halves: bool  # whether matmuls in bfloat16 are the processor's own
    name: str  # compiler, vector width and flags, for a run's record
    threads: int = 1
    # What the calling thread does once, while the others begin with a forward pass: Python that holds up nobody.
    chores: list[Callable[[], None]] = field(default_factory=list, compare=False)

    def lstm(
        self,
        direction: str,
        sizes: Sequence[int],
        arrays: Sequence[Tensor],
        layers: Sequence[Mapping[str, Tensor]],
    ) -> None:
        """A deep LSTM "forward" or "backward"; sizes, arrays and layers are described in kernels/lstm.h."""
        fields = [layer.get(name) for layer in layers for name in LAYER]
        arguments = [INTEGER(self.threads), _integers(sizes), _pointers(arrays), _pointers(fields)]
        if direction == "backward":
            self.library.execlab_backward(*arguments)
            return
        failures: list[BaseException] = []

        def meanwhile() -> None:
            try:
                self.chores.pop()()
            except BaseException as error:  # raised below: nothing may pass through C
                failures.append(error)

        callback = CALLBACK(meanwhile) if self.chores else None
        self.library.execlab_forward(*arguments, callback)
        if failures:
            raise failures[0]

    def clip(self, tensors: Sequence[Tensor], limit: float) -> float:
        """Scale tensors down to a common norm if theirs is larger; gives what it was."""
        sizes = _integers([tensor.numel() for tensor in tensors])
        norm = self.library.execlab_clip(
            INTEGER(self.threads), INTEGER(len(tensors)), _pointers(tensors), sizes, ctypes.c_double(limit)
        )
        return float(norm)

    def update(
        self,
        matrices: Sequence[tuple[int, Tensor, Tensor, Tensor]],
        others: Sequence[tuple[Tensor, Tensor, Tensor, Tensor]],
        numbers: Sequence[float],
        iterations: int,
        *,
        half: bool,
    ) -> None:
        """A step of Muon (blocks, parameter, gradient, momentum) and AdamW (parameter, gradient, mean, square);
        numbers are described in kernels/optimizer.h."""
        tensors = [tensor for _, *each in matrices for tensor in each] + [tensor for each in others for tensor in each]
        sizes = [size for blocks, each, *_ in matrices for size in (blocks, each.shape[0] // blocks, each.shape[1])]
        sizes += [each[0].numel() for each in others]
        counts = (self.threads, int(half), iterations, len(matrices), len(others))
        floats = (ctypes.c_float * len(numbers))(*numbers)
        self.library.execlab_update(*map(INTEGER, counts), _pointers(tensors), _integers(sizes), floats)


def _integers(values: Sequence[int]) -> ctypes.Array[ctypes.c_int64]:
    return (INTEGER * len(values))(*values)


def _pointers(tensors: Sequence[Tensor | None]) -> ctypes.Array[ctypes.c_void_p]:
    return (POINTER * len(tensors))(*(None if tensor is None else tensor.data_ptr() for tensor in tensors))


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
