"""The one error that a user's mistake raises: a sentence, never a traceback.

>>> raise ExeclabError("length is 0; it must be from 1 to 50")
Traceback (most recent call last):
execlab.errors.ExeclabError: length is 0; it must be from 1 to 50
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class ExeclabError(ValueError):
    """Something the user can correct; the message says what was wrong and what is allowed."""


class UntrustedError(ExeclabError):
    """A file names code outside execlab that the user has not named."""


class MissingPackageError(ExeclabError, ImportError):
    """A package that is not installed is needed; the message says how to install it."""


def unknown(kind: str, name: object, known: Iterable[str]) -> ExeclabError:
    """The error for a name that is not in a registry: it lists the known ones."""
    shown = str(name)[:40]
    return ExeclabError(f"there is no {kind} {shown!r}; choose {', '.join(known)}")


def printable(text: str) -> str:
    """A text without half characters: a folder's name that is not in the locale's encoding has them."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def needs_torch(*also: str) -> None:
    """A sentence instead of a traceback where training is not installed."""
    from importlib.util import find_spec

    if missing := [name for name in ("torch", "safetensors", *also) if find_spec(name) is None]:
        raise ExeclabError(f"this command needs PyTorch ({missing[0]} is missing): pip install 'execlab[train]'")
