"""Names and import paths: wherever execlab takes the name of a task, a strategy, a model or an experiment, it also
takes `package.module:Name`.

Importing runs code. So a path is imported only if the user has named it in this process, on the command line or in
Python, or a package that holds it; a path that comes out of a file (a run, a checkpoint, a grid) is refused until then.

>>> find("task", "json:JSONDecoder", {"addition": int})  # doctest: +ELLIPSIS
Traceback (most recent call last):
execlab.errors.UntrustedError: json:JSONDecoder is code outside execlab... --trust json:JSONDecoder ...
>>> find("task", "sums", {"addition": int})
Traceback (most recent call last):
execlab.errors.ExeclabError: there is no task 'sums'; choose addition, or an import path package.module:Name
"""

from __future__ import annotations

import os
import re
import sys
import traceback
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from execlab.errors import ExeclabError, UntrustedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

T = TypeVar("T")

_MODULE = r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*"
_PATH = re.compile(rf"(?=.{{1,200}}$){_MODULE}:[A-Za-z_]\w*", re.ASCII)
_NAMED = re.compile(rf"{_MODULE}(?::[A-Za-z_]\w*)?", re.ASCII)  # a class, or all of a module or package
_trusted: dict[str, None] = {}  # in the order in which they were named


def is_path(name: object) -> bool:
    """Whether a name is an import path."""
    return isinstance(name, str) and ":" in name


def trust(*names: str) -> None:
    """Allow these import paths to be imported in this process; a module or a package allows all that is in it."""
    for name in names:
        if not _NAMED.fullmatch(name):
            raise ExeclabError(f"{name[:60]!r} is not an import path; write package.module:Name, or a package")
    _trusted.update(dict.fromkeys(names))


def trusted() -> tuple[str, ...]:
    """The import paths, modules and packages that the user has named."""
    return tuple(_trusted)


def is_trusted(path: str) -> bool:
    """Whether the user has named an import path, or a package that it is in."""
    module = path.partition(":")[0].split(".")
    return is_path(path) and (
        path in _trusted or any(".".join(module[: count + 1]) in _trusted for count in range(len(module)))
    )


def check_trusted(*names: str) -> None:
    """Raise if some of these names are import paths that the user has not named; the error names all of them."""
    paths = [name for name in dict.fromkeys(names) if is_path(name) and not is_trusted(name)]
    for path in paths:
        if not _PATH.fullmatch(path):
            raise ExeclabError(f"{path[:60]!r} is not an import path; write package.module:Name")
    if paths:
        many = len(paths) > 1
        raise UntrustedError(
            f"{', '.join(paths)} {'are' if many else 'is'} code outside execlab, imported only if you name "
            f"{'them' if many else 'it'}: {' '.join(f'--trust {path}' for path in paths)} "
            f"(in Python: execlab.trust({', '.join(map(repr, paths))}))"
        )


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
            f"there is no {kind} {str(name)[:40]!r}; choose {choices}, or an import path package.module:Name"
        )
    check_trusted(name)
    value = _import(kind, name)
    what = f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"
    if not isinstance(value, instance_of):
        due = "a class" if instance_of is type else f"of type {instance_of.__name__}"
        raise ExeclabError(f"{name} is not {what}: it is of type {type(value).__name__}, and must be {due}")
    if missing := [need for need in needs if not hasattr(value, need)]:
        raise ExeclabError(f"{name} is not {what}: it has no {', '.join(missing)}")
    undone = [need for need in needs if getattr(getattr(value, need), "__isabstractmethod__", False)]
    if undone := sorted({*undone, *getattr(value, "__abstractmethods__", ())}):
        raise ExeclabError(f"{name} is not {what}: it does not define {', '.join(undone)}")
    return value


def _import(kind: str, path: str) -> Any:
    module, _, name = path.partition(":")
    if (here := os.getcwd()) not in sys.path:  # noqa: PTH109 - a string is wanted
        sys.path.append(here)  # last: it can hide nothing that is installed
    try:
        imported = import_module(module)
    except ModuleNotFoundError as error:
        raise ExeclabError(
            f"the {kind} {path} cannot be imported: there is no module {error.name!r}, installed or in this folder"
        ) from None
    except (Exception, SystemExit) as error:
        raise ExeclabError(f"importing the {kind} {path} failed: {_in_a_line(error)}{_place(path, error)}") from error
    if not hasattr(imported, name):
        raise ExeclabError(f"the module {module} has no {name!r}")
    return getattr(imported, name)


def build(kind: str, name: str, make: Callable[..., T], *given: object, **options: object) -> T:
    """What a class makes of its options; the error of a class from outside becomes a sentence."""
    try:
        return make(*given, **options)
    except ExeclabError:
        raise
    except Exception as error:
        if is_path(name):
            raise broken(kind, name, error) from error
        raise


def broken(kind: str, name: str, error: Exception) -> ExeclabError:
    """The sentence for a class from outside that fails where its contract is tried."""
    return ExeclabError(f"the {kind} {name} does not keep its contract: {_in_a_line(error)}{_place(name, error)}")


def failed(path: str, error: BaseException) -> ExeclabError:
    """The sentence for code from outside that fails while it is used."""
    return ExeclabError(f"{path} failed: {_in_a_line(error)}{_place(path, error)}")


def blame(error: BaseException) -> ExeclabError | None:
    """The sentence for an error that was raised in, or below, code that the user named; None for any other."""
    return next((failed(path, error) for path in _trusted if _place(path, error)), None)


def _in_a_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}".rstrip(": ")


def _place(path: str, error: BaseException) -> str:
    """Where in the package of an import path an error arose, in brackets; empty if it did not arise there."""
    package = path.partition(":")[0].partition(".")[0]
    place = ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        if str(frame.f_globals.get("__name__")).partition(".")[0] == package:
            place = f" ({Path(frame.f_code.co_filename).name}, line {line})"
    return place
