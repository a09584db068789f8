"""The two ways to write a loop: on one line, as the paper's appendix prints it, or indented, as its Fig. 1 does.

>>> print(indent_loops("j=8584\\nfor x in range(8):j+=920\\nprint((j+7567))"))
j=8584
for x in range(8):
  j+=920
print((j+7567))
>>> join_loops(indent_loops("for x in range(8):j+=920")) == "for x in range(8):j+=920"
True
>>> two = "j=1\\nfor x in range(8):\\n  j+=920\\n  j-=1\\nprint(j)"  # what only a person writes
>>> join_loops(two) == two
True
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

Layout = Literal["line", "indented"]

INDENT = "  "
_ONE_LINE_BODY = re.compile(rf":\n{INDENT}(?=\S[^\n]*(?:\n\S|\n?\Z))")


def indent_loops(text: str) -> str:
    """The body of every one-line loop on an indented line of its own."""
    return "\n".join(
        line.replace(":", ":\n" + INDENT, 1) if line.startswith("for ") else line for line in text.split("\n")
    )


def join_loops(text: str) -> str:
    """The inverse of `indent_loops`; a body of several lines stays as it is."""
    return _ONE_LINE_BODY.sub(":", text)


LAYOUTS: dict[str, Callable[[str], str]] = {"line": str, "indented": indent_loops}
