"""Flags that several commands share, made from the options that tasks, strategies and models declare."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar

import click

from execlab import registry
from execlab.errors import ExeclabError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from execlab.options import Option

FLAGS = {"weights": "--from"}  # a word that Python keeps for itself
F = TypeVar("F", bound="Callable[..., object]")

JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
EXTRA = click.option("--option", "extra", multiple=True, metavar="NAME=VALUE", help="An option of a class of your own.")


def together(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Several options as one decorator."""

    def decorate(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def choice(flag: str, names: Iterable[str], text: str, default: str | None = None) -> Callable[[F], F]:
    """An option whose value comes from a list."""
    return click.option(
        flag, type=click.Choice(list(names)), default=default, show_default=default is not None, help=text
    )


def named(kind: str, names: Iterable[str], text: str, default: str | None = None) -> Callable[[F], F]:
    """The option for a task, a strategy or a model: a name or an import path."""
    text = f"{text} One of {', '.join(names)}, or an import path package.module:Name."
    return click.option(f"--{kind}", kind, metavar="NAME", default=default, show_default=default is not None, help=text)


def flag_of(setting: Option, text: str, allowed: Iterable[str] = ()) -> Callable[[F], F]:
    """The flag for one option."""
    flag = FLAGS.get(setting.name, "--" + setting.name.replace("_", "-"))
    if setting.kind is bool:
        return click.option(f"{flag}/--no-{flag[2:]}", setting.name, default=None, help=text)
    allowed = tuple(allowed) or setting.choices
    return click.option(flag, setting.name, type=click.Choice(allowed) if allowed else setting.kind, help=text)


def parse_extra(pairs: tuple[str, ...]) -> dict[str, Any]:
    """The options in NAME=VALUE pairs. A value that is JSON is read as JSON, any other as a string.

    >>> parse_extra(("depth=3", "kind=fast"))
    {'depth': 3, 'kind': 'fast'}
    """
    options: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not name.isidentifier() or not equals:
            raise ExeclabError(f"--option {pair[:60]!r} is not of the form NAME=VALUE")
        try:
            options[name] = json.loads(value)
        except (ValueError, RecursionError):
            options[name] = value
    return options


def trust(command: F) -> F:
    """The --trust option of a command that loads a run or a grid."""

    def allow(_context: click.Context, _option: click.Parameter, paths: tuple[str, ...]) -> None:
        registry.trust(*paths)

    text = "Allow a loaded run to import this class of yours (package.module:Name), or all of a package."
    return click.option("--trust", multiple=True, metavar="PATH", expose_value=False, callback=allow, help=text)(
        command
    )
