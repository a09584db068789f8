"""Names and import paths: wherever execlab takes the name of a task, a strategy or a model, it also takes
`package.module:Name`.

Importing runs code. So a path is imported only if the user has named it in this process, on the command line or in
Python; a path that comes out of a file (a run, a checkpoint, a grid) is refused until then.

>>> find("task", "json:JSONDecoder", {"addition": int})  # doctest: +ELLIPSIS
Traceback (most recent call last):
execlab.errors.ExeclabError: 'json:JSONDecoder' is code outside execlab... --trust json:JSONDecoder ...
>>> find("task", "sums", {"addition": int})
Traceback (most recent call last):
execlab.errors.ExeclabError: there is no task 'sums'; choose addition, or an import path such as mylab.tasks:Name
"""

from __future__ import annotations

import os
import re
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from execlab.errors import ExeclabError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_PATH = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*", re.ASCII)
_trusted: dict[str, None] = {}  # in the order in which they were named


def is_path(name: object) -> bool:
    """Whether a name is an import path."""
    return isinstance(name, str) and ":" in name


def trust(*paths: str) -> None:
    """Allow these import paths to be imported in this process."""
    for path in paths:
        if not _PATH.fullmatch(path):
            raise ExeclabError(f"{path[:60]!r} is not an import path; write package.module:Name")
        _trusted[path] = None


def trusted() -> tuple[str, ...]:
    """The import paths that the user has named."""
    return tuple(_trusted)


def short_name(name: str) -> str:
    """A name without the module of an import path, for folders and tables.

    >>> short_name("mylab.tasks:Maximum"), short_name("addition")
    ('Maximum', 'addition')
    """
    return name.rpartition(":")[2]


def find(kind: str, name: str, known: Mapping[str, Any], needs: Iterable[str] = (), *, instance_of: type = type) -> Any:
    """What a name of a registry, or a trusted import path, stands for.

    `needs` are the attributes that a class must have to be of this kind; built-in classes have them. A kind that is
    a value, not a class, is an `instance_of` another class.
    """
    if name in known:
        return known[name]
    if not is_path(name):
        choices = ", ".join(known)
        raise ExeclabError(
            f"there is no {kind} {str(name)[:40]!r}; choose {choices}, or an import path such as mylab.{kind}s:Name"
        )
    if name not in _trusted:
        raise ExeclabError(
            f"{name[:60]!r} is code outside execlab, and it is imported only if you name it yourself: "
            f"--trust {name[:60]} (in Python: execlab.trust({name[:60]!r}))"
        )
    return _import(kind, name, needs, instance_of)


def _import(kind: str, path: str, needs: Iterable[str], instance_of: type) -> Any:
    module, _, name = path.partition(":")
    if (here := os.getcwd()) not in sys.path:  # noqa: PTH109 - a string is wanted
        sys.path.append(here)  # last: it can hide nothing that is installed
    try:
        value = getattr(import_module(module), name, None)
    except ModuleNotFoundError as error:
        raise ExeclabError(
            f"the {kind} {path} cannot be imported: there is no module {error.name!r}, installed or in this folder"
        ) from None
    except Exception as error:
        raise ExeclabError(f"importing the {kind} {path} failed: {_in_a_line(error)}") from error
    if value is None:
        raise ExeclabError(f"the module {module} has no {name!r}")
    if not isinstance(value, instance_of):
        due = "a class" if instance_of is type else f"of the class {instance_of.__name__}"
        raise ExeclabError(f"{path} is not {due}; a {kind} is")
    if missing := [need for need in needs if not hasattr(value, need)]:
        raise ExeclabError(f"{path} is not a {kind}: it has no {', '.join(missing)}")
    if undone := sorted(getattr(value, "__abstractmethods__", ())):
        raise ExeclabError(f"{path} is not a {kind}: it does not define {', '.join(undone)}")
    return value


def broken(kind: str, name: str, error: Exception) -> ExeclabError:
    """The sentence for outside code that failed where a contract was tried."""
    return ExeclabError(f"the {kind} {name} does not keep the contract of a {kind}: {_in_a_line(error)}")


def _in_a_line(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}".rstrip(": ")
