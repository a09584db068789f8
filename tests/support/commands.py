"""The commands of a user, one after the other, in whatever environment this script is started: prints what each did.

PyTorch is imported once and every command is a forked child, so a whole row of them takes seconds.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import time
import urllib.request
from pathlib import Path


def child(words: list[str]) -> tuple[int, Path, Path]:
    """Start a command; gives its process and the files that hold its output."""
    handle, out = tempfile.mkstemp(dir=sys.argv[2])
    other, err = tempfile.mkstemp(dir=sys.argv[2])
    pid = os.fork()
    if pid == 0:
        os.dup2(handle, 1)
        os.dup2(other, 2)
        sys.argv = ["execlab", *words]
        from execlab.cli import main

        try:
            main()
        except SystemExit as end:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(end.code if isinstance(end.code, int) else 1)
        except BaseException:
            import traceback

            traceback.print_exc()
            os._exit(99)
    return pid, Path(out), Path(err)


def run(words: list[str]) -> dict[str, object]:
    """A command to its end."""
    pid, out, err = child(words)
    _, status = os.waitpid(pid, 0)
    return {
        "status": os.waitstatus_to_exitcode(status),
        "out": out.read_text("utf-8", "replace"),
        "err": err.read_text("utf-8", "replace"),
    }


def serve(words: list[str]) -> dict[str, object]:
    """A server that is asked once and then ended."""
    pid, out, err = child([*words, "--port", "0"])
    health = ""
    for _ in range(600):
        text = out.read_text("utf-8", "replace")
        if " at http" in text and text.endswith("\n"):
            url = text.split(" at ")[1].split()[0]
            health = urllib.request.urlopen(f"{url}api/health", timeout=20).read().decode()
            os.kill(pid, signal.SIGTERM)
            break
        if os.waitpid(pid, os.WNOHANG)[0]:
            return {"status": 2, "out": health, "err": err.read_text("utf-8", "replace")}
        time.sleep(0.05)
    _, status = os.waitpid(pid, 0)
    return {
        "status": 0 if health else os.waitstatus_to_exitcode(status),
        "out": health,
        "err": err.read_text("utf-8", "replace"),
    }


if __name__ == "__main__":
    import uvicorn  # noqa: F401 - here and below: once for all commands

    import execlab.experiments.publish.page
    import execlab.playground.server
    import execlab.training.loop  # noqa: F401

    folder = sys.argv[1]
    train = ["train", "--preset", "smoke", "--steps", "20", "--test-count", "8", "--kernel", "auto", "--out", folder]
    done = {
        "train": run(train),
        "resume": run(["train", "--resume", folder]),
        "evaluate": run(["evaluate", folder, "--count", "8"]),
        "predict": run(["predict", folder, "print(12+34)"]),
        "serve": serve(["serve", "--runs", str(Path(folder).parent)]),
        "report": run(["report", sys.argv[3]]),
    }
    print(json.dumps(done))
