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

# What a target is written with, the end mark included.
OUTPUT_CHARACTERS = "0123456789-" + END_MARK


def with_end_marks(input: str, target: str) -> str:
    """A sample as the model reads it."""
    return f"{input}{END_MARK}{target}{END_MARK}"


def check_characters(text: str, vocabulary: str = VOCABULARY) -> None:
    """Refuse a text with characters that the model does not know, by name."""
    if strangers := sorted(set(text) - set(vocabulary)):
        names = ", ".join(repr(character) for character in strangers[:10])
        raise ExeclabError(f"the model does not know {names}; its characters are {vocabulary!r}")
