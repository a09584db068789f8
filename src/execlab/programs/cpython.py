"""The second opinion: what CPython itself prints, in a process of its own.

Only programs that `syntax.py` has let pass are handed over, so the other process can do no more than integer
arithmetic and one print; it is started without site packages or environment, and knows `print` and `range` alone.

>>> run_in_cpython(["print((71647-548966))", "a=2\\nprint(a)"])
['-477319', '2']
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

from execlab.errors import ExeclabError
from execlab.programs.syntax import ProgramError, parse

if TYPE_CHECKING:
    from collections.abc import Sequence

_WORKER = """
import contextlib, io, json, sys
printed = []
for text in json.load(sys.stdin):
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            exec(compile(text, "<program>", "exec"), {"__builtins__": {"print": print, "range": range}})
        printed.append(out.getvalue().removesuffix("\\n"))
    except Exception as error:
        printed.append(f"{type(error).__name__}: {error}"[:200])
json.dump(printed, sys.stdout)
"""


def run_in_cpython(texts: Sequence[str]) -> list[str]:
    """What each program prints, without the final newline; why not, where it prints nothing."""
    refused: dict[int, str] = {}
    for i, text in enumerate(texts):
        try:
            parse(text)
        except ProgramError as error:
            refused[i] = f"refused: {error}"
    done = subprocess.run(  # noqa: S603 - our own interpreter, our own worker
        [sys.executable, "-I", "-S", "-c", _WORKER],
        input=json.dumps(["" if i in refused else text for i, text in enumerate(texts)]),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ExeclabError(f"the separate Python process failed: {done.stderr.strip()[-200:]}")
    printed: list[str] = json.loads(done.stdout)
    return [refused.get(i, output) for i, output in enumerate(printed)]
