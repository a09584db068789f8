"""How long the interpreter takes for hostile texts, and how it compares with CPython on honest ones, in one run.

make setup && .venv/bin/python benchmarks/interpreter.py [COUNT]
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))
from fuzzing import texts

from execlab.programs import ProgramError, execute, generate_program
from execlab.randomness import stream


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    slowest, worst, accepted, total = 0.0, "", 0, 0.0
    for text in texts(count, seed=11):
        begin = time.perf_counter()
        try:
            execute(text)
            accepted += 1
        except ProgramError:
            pass
        elapsed = time.perf_counter() - begin
        total += elapsed
        if elapsed > slowest:
            slowest, worst = elapsed, text
    print(f"{count:,} fuzzed texts: {accepted:,} accepted, mean {1e6 * total / count:.0f} us")
    print(f"slowest: {1e3 * slowest:.1f} ms (bar 100): {'met' if slowest < 0.1 else 'NOT MET'}: {worst[:60]!r}")

    programs = [generate_program(stream("benchmark", i), 4, 3)[0] for i in range(5_000)]
    begin = time.perf_counter()
    for text in programs:
        execute(text)
    ours = time.perf_counter() - begin
    begin = time.perf_counter()
    names = {"__builtins__": {"print": lambda _value: None, "range": range}}
    for text in programs:
        exec(compile(text, "<program>", "exec"), dict(names))  # generated a few lines above, nobody's input
    theirs = time.perf_counter() - begin
    print(f"programs at (4, 3): execlab {5_000 / ours:,.0f}/s, CPython {5_000 / theirs:,.0f}/s: {theirs / ours:.2f}")


if __name__ == "__main__":
    main()
