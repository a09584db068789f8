"""The recurrence in C (recurrence.c): compiled for this processor at first use, kept in the user's cache, and never
needed: without a compiler, or for a number of cells that it does not fit, recurrence.py does the same in PyTorch.

The compiled file is named by what it depends on (source, compiler, flags, processor), so a shared home directory serves
machines of several kinds.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from execlab.errors import ExeclabError

if TYPE_CHECKING:
    from torch import Tensor

SOURCE = Path(__file__).with_name("recurrence.c")
FLAGS = ("-O3", "-std=c11", "-ffp-contract=fast", "-fno-math-errno", "-fno-strict-aliasing", "-fPIC", "-shared")
# The first set that the compiler takes. PyTorch's own threads are OpenMP's; sharing them leaves no thread spinning.
WAYS = (("-march=native", "-fopenmp"), ("-mcpu=native", "-fopenmp"), ("-march=native",), ("-mcpu=native",), ())
WIDE = ("-mprefer-vector-width=512",)  # gcc on AVX-512, where it would rather use half of a register
INTEGER = ctypes.c_int64
POINTER = ctypes.c_void_p


@dataclass(frozen=True)
class Native:
    """The compiled recurrence."""

    library: ctypes.CDLL
    width: int  # the number of cells must be a multiple of it
    halves: bool  # whether products in bfloat16 are the processor's own
    name: str  # compiler and vector width, for a run's record

    def forward(
        self, rows: Tensor, projected: Tensor, weight: Tensor, gates: Tensor, h: Tensor, c: Tensor, squashed: Tensor
    ) -> None:
        """Fill gates, h, c and squashed, of which the first h and c are given."""
        tensors = (rows, projected, self._by_gates(weight, 1), gates, h, c, squashed)
        self._call("execlab_forward", int(rows[0]), (len(rows), squashed.shape[1]), tensors)

    def half_forward(
        self,
        rows: Tensor,
        ids: Tensor | None,
        below: Tensor,
        bias: Tensor | None,
        weight: Tensor,
        gates: Tensor,
        h: Tensor,
        c: Tensor,
        squashed: Tensor,
    ) -> None:
        """The same where weight and h are in bfloat16; below: rows of a table that ids choose, or all, plus bias."""
        tensors = (rows, ids, below, bias, self._by_gates(weight, 2), gates, h, c, squashed)
        self._call("execlab_half_forward", int(rows[0]), (len(rows), squashed.shape[1]), tensors)

    def _by_gates(self, weight: Tensor, pair: int) -> Tensor:
        """Panels of the four gates of the same w cells, (n/w, n/pair, 4, w, pair)."""
        n, w = weight.shape[1], self.width
        return weight.view(4, n // w, w, n // pair, pair).permute(1, 3, 0, 2, 4).contiguous()

    def backward(
        self,
        rows: Tensor,
        above: Tensor,
        weight: Tensor,
        gates: Tensor,
        c: Tensor,
        squashed: Tensor,
        change: Tensor,
        dh: Tensor,
        dc: Tensor,
    ) -> None:
        """Fill change; dh and dc become those of the first state. above, weight and change may be in bfloat16."""
        half = weight.dtype == torch.bfloat16
        n, pair = squashed.shape[1], 2 if half else 1
        panels = torch.split(weight.view(4 * n // pair, pair, n), 4 * self.width, dim=2)
        packed = torch.cat([panel.transpose(1, 2).reshape(-1) for panel in panels])  # each (4n/pair, columns, pair)
        tensors = (rows, above, packed, gates, c, squashed, change, dh, dc)
        self._call("execlab_half_backward" if half else "execlab_backward", int(rows[0]), (len(rows), n), tensors)

    def half_outer(self, a: Tensor, b: Tensor) -> Tensor:
        """`a.T @ b` of a (N, m) and b (N, n) in bfloat16, summed and given in float32."""
        (count, m), n = a.shape, b.shape[1]
        out = torch.zeros(m, n)
        room = torch.empty(torch.get_num_threads(), self.library.execlab_room(INTEGER(n)), dtype=torch.int32)
        self._call("execlab_half_outer", len(room), (count, m, n), (a, b, out, room))
        return out

    def half_gather(self, a: Tensor, ids: Tensor | None, rows: int) -> Tensor:
        """The rows of a (N, m) in bfloat16 summed in float32: each into the row that ids name, or all into one."""
        count, m = a.shape
        out = torch.zeros(rows, m)
        self._call("execlab_half_gather", m // self.width, (count, m), (ids, a, out))
        return out

    def _call(self, function: str, rows: int, sizes: tuple[int, ...], tensors: tuple[Tensor | None, ...]) -> None:
        threads = min(torch.get_num_threads(), rows)
        pointers = [None if tensor is None else tensor.data_ptr() for tensor in tensors]
        self.library[function](
            *(INTEGER(value) for value in (threads, *sizes)), *(POINTER(value) for value in pointers)
        )


@cache
def load() -> Native | str:
    """The compiled recurrence, or the reason why there is none."""
    named = os.environ.get("CC", "")
    compiler = shutil.which(named) if named else next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if compiler is None:
        return f"the compiler {named!r} of CC is not there" if named else "there is no C compiler (cc, gcc or clang)"
    told = _run([compiler, "--version"])
    if told.returncode:
        return f"{compiler} does not run"
    release = told.stdout.splitlines()[0]
    reasons = []
    for way in WAYS:
        for flags in ((*FLAGS, *way, *WIDE), (*FLAGS, *way)):
            try:
                return _open(_compiled(compiler, release, flags), release)
            except (ExeclabError, OSError) as error:
                reasons.append(str(error))
    return reasons[-1]


def usable(cells: int) -> Native | str:
    """The compiled recurrence if it fits so many cells, or the reason why it cannot be used."""
    native = load()
    if isinstance(native, Native) and cells % native.width:
        return f"{cells} cells are not a multiple of {native.width}"
    return native


def _open(path: Path, release: str) -> Native:
    library = ctypes.CDLL(str(path))
    for name in ("width", "threaded", "halves", "room"):
        getattr(library, f"execlab_{name}").restype = INTEGER
    width = int(library.execlab_width())
    threads = "" if library.execlab_threaded() else ", one thread"
    return Native(library, width, bool(library.execlab_halves()), f"{release}, {width} floats per vector{threads}")


def _compiled(compiler: str, release: str, flags: tuple[str, ...]) -> Path:
    source = SOURCE.read_bytes()
    key = hashlib.sha256(repr((source, release, flags, _processor())).encode()).hexdigest()[:16]
    folder = _folder()
    path = folder / f"recurrence-{key}.so"
    if not path.exists():
        # Under a name of its own until it is whole: several processes may want it at once.
        handle, partial = tempfile.mkstemp(dir=folder, suffix=".so")
        os.close(handle)
        try:
            done = _run([compiler, *flags, str(SOURCE), "-o", partial])
            if done.returncode:
                raise ExeclabError(f"{compiler} did not compile {SOURCE.name}: {done.stderr.strip()[:200]}")
            Path(partial).replace(path)
        finally:
            Path(partial).unlink(missing_ok=True)
    return path


def _folder() -> Path:
    """Where compiled files are kept: nobody but this user may write there."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "execlab"
    with suppress(OSError):
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.access(home, os.W_OK) and home.stat().st_uid == os.getuid():
            return home
    return Path(tempfile.mkdtemp(prefix="execlab-"))


def _processor() -> str:
    if platform.system() == "Linux":
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join(sorted({line for line in lines if line.startswith(("flags", "Features", "model name"))}))
    return f"{platform.machine()} {platform.processor()}"


def _run(words: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)  # noqa: S603 - a compiler
