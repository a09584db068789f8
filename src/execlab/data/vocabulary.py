"""The characters that the model knows, and the end mark: the one place for both.

The vocabulary is fixed and covers every task: newline, the end mark, and what samples are written with.

>>> len(VOCABULARY)
41
>>> with_end_marks("print(1+2)", "3")
'print(1+2).3.'
"""

from __future__ import annotations

from execlab.errors import ExeclabError
from execlab.programs.operations import LOOP_VARIABLE, VARIABLES

# released code: '@' ends the input, '.' the output, '#' is a newline (42 symbols); paper: '.' after both, so 41
END_MARK = "."
NEWLINE = "\n"

_WORDS = "print for in range if else"
_SYMBOLS = "0123456789+-*()<>=:; "

VOCABULARY: str = NEWLINE + END_MARK + "".join(sorted({*_WORDS, *_SYMBOLS, *VARIABLES, LOOP_VARIABLE}))


def vocabulary_with(symbols: str) -> str:
    """The vocabulary of a task that needs further characters: they come last.

    >>> vocabulary_with("&|") == VOCABULARY + "&|"
    True
    """
    extra = sorted(set(symbols) - set(VOCABULARY))
    if wrong := [symbol for symbol in extra if not (symbol.isascii() and symbol.isprintable())]:
        raise ExeclabError(f"the symbol {wrong[0]!r} of the task is not a printable ASCII character")
    return VOCABULARY + "".join(extra)


def with_end_marks(input: str, target: str) -> str:
    """A sample as the model reads it."""
    return f"{input}{END_MARK}{target}{END_MARK}"


def check_characters(text: str, vocabulary: str = VOCABULARY) -> None:
    """Refuse a text with characters that the model does not know, by name."""
    if unknown := sorted(set(text) - set(vocabulary)):
        names = ", ".join(repr(character) for character in unknown[:10])
        raise ExeclabError(f"the model does not know {names}; its characters are {vocabulary!r}")
