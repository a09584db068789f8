"""The command line: where it starts, and what becomes of mistakes.

Whatever goes wrong through a user's mistake is one sentence on standard error and exit status 2; a failed audit is 1.
The core is light enough to be imported here; anything heavier is imported by the command that needs it.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from io import TextIOWrapper
from typing import NoReturn

import click

from execlab import __version__
from execlab.cli import curve, evaluate, experiments, integrations, samples, serve, train
from execlab.errors import ExeclabError
from execlab.programs.syntax import MAX_DIGITS
from execlab.registry import blame

STDERR = 2


def main() -> NoReturn:
    """Run a command and turn every foreseeable failure into a sentence."""
    if sys.stderr is None:  # closed: nobody reads it, and the next file that is opened must not become it
        handle = os.open(os.devnull, os.O_WRONLY)
        if handle != STDERR:
            os.dup2(handle, STDERR)
        sys.stderr = open(STDERR, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    if sys.stdout is None or sys.stdin is None:
        _leave("standard input and output must be open", 2)
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(MAX_DIGITS)  # the language's own limit, whatever the environment says
    if isinstance(sys.stdout, TextIOWrapper):
        # The same bytes everywhere; names of files go out as they are, whatever the locale.
        sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape", newline="\n")
    try:
        status = _run()
        sys.stdout.flush()  # here, where a full disk or a closed pipe can still be reported
    except click.ClickException as error:
        _leave(error.format_message(), 2)
    except ExeclabError as error:
        _leave(str(error), 2)
    except BrokenPipeError:
        # `| head` has seen enough. What is still buffered can go nowhere; without this Python would complain at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        _leave(f"{where}{error.strerror or error}", 2)
    except (click.Abort, KeyboardInterrupt):
        _leave("interrupted", 130)
    except Exception as error:
        if (blamed := blame(error)) is None:
            raise
        _leave(str(blamed), 2)
    sys.exit(status)


def _run() -> int:
    """What click's own main does, except that no error is swallowed."""
    try:
        with app.make_context("execlab", sys.argv[1:]) as ctx:
            app.invoke(ctx)
    except click.exceptions.Exit as end:
        return end.exit_code
    return 0


def _leave(sentence: str, status: int) -> NoReturn:
    with suppress(OSError):  # standard error may be a pipe whose reader is gone
        print(f"execlab: {sentence}", file=sys.stderr)
    sys.exit(status)


@click.group(
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(__version__, prog_name="execlab")
@click.pass_context
def app(ctx: click.Context) -> None:
    """A laboratory for teaching neural networks to execute programs.

    Samples are exactly labelled, of a chosen difficulty, and belong to one of three splits that never overlap.
    `execlab COMMAND --help` says more about each command.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


for _family in (samples, train, evaluate, curve, experiments, integrations, serve):
    for _command in _family.COMMANDS:
        app.add_command(_command)
