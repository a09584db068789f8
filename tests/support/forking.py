"""Commands of execlab, each in a process forked from one that has imported what takes most of a command's time.

The commands know nothing of each other; what one imports, the next one has to import again.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator


class Done(NamedTuple):
    """How a command ended and what it printed."""

    status: int
    out: str
    err: str

    @property
    def sentence(self) -> str:
        """The one sentence that a mistake gets, without the name of the program."""
        assert self.status == 2, self
        assert self.err.startswith("execlab: "), self
        assert self.err.count("\n") == 1, self
        return self.err.removeprefix("execlab: ").rstrip("\n")


class Shell:
    """A folder in which commands and Python code are run, each in a process of its own."""

    def __init__(self, folder: Path, process: subprocess.Popen[str]) -> None:
        self.folder, self.process = folder, process

    def __call__(self, *words: str) -> Done:
        """`execlab WORDS`."""
        return self._ask(words=words)

    def works(self, *words: str) -> str:
        """The output of a command that must succeed."""
        done = self(*words)
        assert done.status == 0, done
        return done.out

    def python(self, code: str) -> Done:
        """Python code as a script."""
        return self._ask(code=code)

    def _ask(self, **asked: Any) -> Done:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        return Done(*json.loads(self.process.stdout.readline()))


@contextmanager
def shell(folder: Path) -> Iterator[Shell]:
    """A Shell whose commands start in `folder`."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    words = [sys.executable, str(Path(__file__).resolve())]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True, cwd=folder, env=environment) as process:
        try:
            yield Shell(folder, process)
        finally:
            assert process.stdin
            process.stdin.close()


def _fork(words: list[str] | None, code: str) -> Done:
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        if (pid := os.fork()) == 0:
            nothing = os.open(os.devnull, os.O_RDONLY)
            for there, here in ((nothing, 0), (out.fileno(), 1), (err.fileno(), 2)):
                os.dup2(there, here)
            os._exit(_status(words, code))
        _, status = os.waitpid(pid, 0)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode("utf-8", "replace"))
        return Done(os.waitstatus_to_exitcode(status), *texts)


def _status(words: list[str] | None, code: str) -> int:
    from execlab.cli import main

    try:
        if words is None:
            exec(compile(code, "<example>", "exec"), {"__name__": "__main__"})
        else:
            sys.argv = ["execlab", *words]
            main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException:
        import traceback

        traceback.print_exc()
        return 99
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


if __name__ == "__main__":
    sys.path.pop(0)  # this folder, as it would not be there for a user
    for module in (
        "matplotlib.backends.backend_agg",
        "matplotlib.figure",
        "scipy.stats",
        "torch._dynamo",  # every optimizer imports it
        "execlab.evaluation.compare",
        "execlab.experiments.run.reproduce",
        "execlab.training.curves",
    ):
        import_module(module)
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        asked = json.loads(line)
        answers.write(json.dumps(_fork(asked.get("words"), asked.get("code", ""))) + "\n")
        answers.flush()
