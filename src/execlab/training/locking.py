"""Who may write to a folder: a run's or a grid's."""

from __future__ import annotations

import errno
import secrets
from contextlib import contextmanager
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from execlab.errors import ExeclabError
from execlab.files import read_regular, write_atomically
from execlab.training import runs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

NO_LOCKS = {errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP}


class BusyError(ExeclabError):
    """Another process is writing to the folder."""


@contextmanager
def lock(folder: Path) -> Iterator[None]:
    """Let no other process in; the operating system lets go of the lock when the process ends, however it ends.

    On a file system without locks this does nothing.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / ".lock"
    if path.is_symlink():  # it would be emptied
        raise ExeclabError(f"{path} is a link; execlab does not write through it")
    file_lock = FileLock(path, timeout=0, fallback_to_soft=False)
    try:
        file_lock.acquire()
    except Timeout:
        raise BusyError(f"another process is writing to {folder}") from None
    except (OSError, NotImplementedError) as error:
        if isinstance(error, OSError) and error.errno not in NO_LOCKS:
            raise
    try:
        yield
    finally:
        if file_lock.is_locked:
            file_lock.release()


@contextmanager
def locked_run(folder: Path) -> Iterator[Callable[[], None]]:
    """The lock of a run's folder, and a function to call before every write.

    Some shared file systems have no locks between machines. So there is a mark of ownership as well: who comes last has
    it, and the function raises once it is another's. The caller has checked that the folder may be written to.
    """
    with lock(folder):
        mark, path = secrets.token_hex(8), folder / ".owner"

        def check() -> None:
            if read_regular(path, 64) != mark.encode():
                raise ExeclabError(f"another process has taken over {folder}; this one stops and writes nothing more")

        write_atomically(path, mark.encode(), root=folder)
        runs.clean(folder)
        yield check
