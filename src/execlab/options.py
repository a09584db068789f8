"""Options that document and check themselves: fields of a dataclass with a help text and an allowed range.

A task, a strategy and a model own their options: the fields of a dataclass (a model's is its `Options`). What a run
stores is a plain mapping, checked against those fields.

>>> from dataclasses import dataclass
>>> @dataclass
... class Tiny:
...     cells: int = option(64, "Cells per layer.", 1, 1000)
>>> complete("model", "tiny", Tiny, {"cells": 32})
Options({'cells': 32})
>>> complete("model", "tiny", Tiny, {"heads": 4})
Traceback (most recent call last):
execlab.errors.ExeclabError: the model tiny has no option 'heads'; its options are cells
"""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn, get_args, get_type_hints

from execlab.errors import ExeclabError, unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

Scalar = bool | int | float | str | None
LARGEST = 2**63 - 1  # of a whole number without a reason for a smaller bound
TINY = 1e-12  # the smallest number that is still above 0
_KIND_NAMES = {int: "a whole number", float: "a number", str: "a word", bool: "true or false"}


def option(default: Any, text: str, low: float | None = None, high: float | None = None, *, quiet: bool = False) -> Any:
    """A field with its help and, for a number, the smallest and the largest value.

    A quiet one is left out of the records of samples while it has its default: it came later than they did.
    """
    limits = None if high is None else (low, high)
    return field(default=default, metadata={"help": text, "range": limits, "quiet": quiet})


@dataclass(frozen=True)
class Option:
    """What a field may hold."""

    name: str
    kind: type
    default: Any
    choices: tuple[str, ...] = ()
    optional: bool = False
    help: str = ""
    range: tuple[float, float] | None = None
    quiet: bool = False

    def check(self, value: object) -> None:
        """Raise unless a value has the field's kind and lies in its range: a stored one may be anything."""
        if value is None and self.optional:
            return
        kind = self.kind
        of_kind = isinstance(value, (int, float) if kind is float else kind)
        if not of_kind or (kind is not bool and isinstance(value, bool)):
            raise ExeclabError(f"{self.name} is {repr(value)[:40]}; it must be {_KIND_NAMES.get(kind, kind.__name__)}")
        if self.choices and value not in self.choices:
            raise unknown(self.name, value, self.choices)
        if self.range is None or not isinstance(value, int | float):
            return
        low, high = self.range
        if not low <= value <= high:  # also refuses nan
            shown = f"{value:.6g}" if isinstance(value, float) else str(value)[:40]
            raise ExeclabError(f"{self.name} is {shown}; it must be {_in_words(low, high)}")


def _in_words(low: float, high: float) -> str:
    return f"above 0 and at most {high:,g}" if low == TINY else f"from {_short(low)} to {_short(high)}"


def _short(number: float) -> str:
    return f"{number:,}" if abs(number) < 10**16 else f"{number:.2e}"


@cache
def options_of(kind: type) -> dict[str, Option]:
    """The options of a dataclass: its fields that can be given and have a default."""
    try:
        hints = get_type_hints(kind)
    except Exception:
        hints = {}
    known = {}
    for each in fields(kind) if hasattr(kind, "__dataclass_fields__") else ():
        if not each.init or each.default is MISSING:
            continue
        kinds, choices, optional = _parts(hints.get(each.name, type(each.default)))
        documented = {name: each.metadata[name] for name in ("help", "range", "quiet") if name in each.metadata}
        known[each.name] = Option(each.name, kinds, each.default, choices, optional, **documented)
    return known


def _parts(hint: Any) -> tuple[type, tuple[str, ...], bool]:
    """Of a type hint: the kind of value, the closed list of its choices, and whether it may be None."""
    optional = type(None) in get_args(hint)
    parts = [part for part in (get_args(hint) or (hint,)) if part is not type(None)]
    if get_args(parts[0]):  # Literal[...] | None
        parts = list(get_args(parts[0]))
    if isinstance(parts[0], str):
        return str, tuple(parts), optional
    return (parts[0] if isinstance(parts[0], type) else object), (), optional


class Options(dict[str, Scalar]):
    """The options of a run's task, strategy or model; they cannot be changed, and can be compared and hashed."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[type, tuple[dict[str, Scalar]]]:
        return Options, (dict(self),)

    def __repr__(self) -> str:
        return f"Options({dict(self)})"

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("options cannot be changed; make a new Config with dataclasses.replace")

    __setitem__ = __delitem__ = update = pop = popitem = clear = setdefault = __ior__ = _refuse


def complete(what: str, name: str, kind: type, given: Mapping[str, object]) -> Options:
    """All options of a kind, checked; what is not given, or is None, has its default."""
    known = options_of(kind)
    asked: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    if extra := sorted(asked.keys() - known.keys()):
        has = f"its options are {', '.join(known)}" if known else "it has no options"
        raise ExeclabError(f"the {what} {name} has no option {extra[0][:40]!r}; {has}")
    for key, value in asked.items():
        known[key].check(value)
    chosen = {key: asked.get(key, each.default) for key, each in known.items()}
    for key, value in chosen.items():
        if not isinstance(value, Scalar):
            raise ExeclabError(f"the option {key} of {name} is {repr(value)[:40]}; an option is a number or a word")
    return Options(chosen)
