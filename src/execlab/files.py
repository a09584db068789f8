"""Reading and writing files so that a crash, a full disk or a hostile folder does no harm.

Everything that execlab writes goes through here. A file is whole or absent, keeps the mode that it had, and stays in
its folder: where `root` is given, no link leads out of it. Reading takes regular files of a stated size only, so that
neither a pipe nor a huge file can stop a process.

>>> import tempfile
>>> from pathlib import Path
>>> folder = Path(tempfile.mkdtemp())
>>> write_atomically(folder / "a" / "b.txt", b"whole", root=folder)
>>> read_regular(folder / "a" / "b.txt")
b'whole'
>>> is_partial(".b.txt.0123abcd.partial", ["b.txt"]), is_partial(".b.txt.partial", ["b.txt"])
(True, False)
"""

from __future__ import annotations

import os
import re
import secrets
import stat
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING

from execlab.errors import ExeclabError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from pathlib import Path

LARGEST = 1 << 26  # bytes of a text file that is read whole
_PARTIAL = re.compile(r"\.(.+)\.[0-9a-f]{8}\.partial")
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_NO_WAITING = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)  # opening a pipe would wait for its writer


def check_inside(path: Path, root: Path) -> None:
    """Raise if a link in the path leads out of the root; `path` itself may be one (it is replaced, not followed)."""
    below = path.parent.resolve()
    if not below.is_relative_to(root.resolve()):
        raise ExeclabError(f"{path} is behind a link that leads out of {root}; execlab does not write there")


def write_atomically(
    path: Path, data: bytes, check: Callable[[], None] = lambda: None, *, root: Path | None = None
) -> None:
    """Write the whole file under its name, or none; `check` may still refuse when everything else is done.

    With a `root`, the folders in between are made and no link is followed. Without one the user named the file: a link
    is followed, and something that is no regular file (/dev/stdout) is written to as it is.
    """
    if root is None:
        path = path.resolve()
        if path.exists() and not path.is_file():
            path.write_bytes(data)
            return
    else:
        check_inside(path, root)
        path.parent.mkdir(parents=True, exist_ok=True)
    partial = partial_name(path)
    try:
        with open_new(partial) as file:
            file.write(data)
        _keep_mode(path, partial)
        check()
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


@contextmanager
def open_new(path: Path) -> Iterator[IO[bytes]]:
    """A file that did not exist before, on disk when the block ends."""
    with path.open("xb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


def partial_name(path: Path) -> Path:
    """A hidden name beside a file for its data until they are whole; no two processes get the same one."""
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}.partial")


def is_partial(name: str, of: Collection[str] | re.Pattern[str]) -> bool:
    """Whether a name is what `partial_name` makes of one of these."""
    match = _PARTIAL.fullmatch(name)
    if match is None:
        return False
    return bool(of.fullmatch(match[1])) if isinstance(of, re.Pattern) else match[1] in of


def _keep_mode(path: Path, partial: Path) -> None:
    with suppress(FileNotFoundError):
        before = path.lstat().st_mode
        if stat.S_ISREG(before):
            partial.chmod(stat.S_IMODE(before))


def sync_folder(folder: Path) -> None:
    """Make renames in a folder durable, where the system can."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    with suppress(OSError):  # some file systems cannot sync a folder
        handle = os.open(folder, os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def open_to_append(path: Path, root: Path) -> Iterator[IO[bytes]]:
    """A file to append to: made if missing, never through a link, on disk when the block ends."""
    check_inside(path, root)
    if path.is_symlink():
        raise ExeclabError(f"{path} is a link; execlab does not write through it")
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | _NO_FOLLOW | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, flags, 0o666), "ab") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def open_regular(path: Path) -> Iterator[IO[bytes]]:
    """A file to read, if it is a regular one: a pipe or a device would keep the reader waiting for ever."""
    handle = os.open(path, os.O_RDONLY | _NO_WAITING)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise ExeclabError(f"{path} is not a regular file")
    with os.fdopen(handle, "rb") as file:
        yield file


def read_regular(path: Path, largest: int = LARGEST) -> bytes:
    """The bytes of a regular file of at most `largest` bytes."""
    with open_regular(path) as file:
        data = file.read(largest + 1)
    if len(data) > largest:
        raise ExeclabError(f"{path} is larger than {largest:,} bytes")
    return data
