"""What it costs to import execlab and to ask for help, beside bare Python, in one run.

make setup && .venv/bin/python benchmarks/startup.py
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

ROUNDS = 21

COMMANDS = {
    "bare python": ["-c", "pass"],
    "import execlab": ["-c", "import execlab"],
    "execlab --help": ["-m", "execlab", "--help"],
    "execlab sample": ["-m", "execlab", "sample"],
    "import click": ["-c", "import click"],
}


def main() -> None:
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(ROUNDS):
        for name, arguments in COMMANDS.items():
            begin = time.perf_counter()
            subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
            times[name].append(1000 * (time.perf_counter() - begin))
    bare = statistics.median(times["bare python"])
    for name, values in times.items():
        median = statistics.median(values)
        print(f"{name:16} {median:6.0f} ms  (+{median - bare:.0f} ms, {median / bare:.1f} times bare python)")
    imported = statistics.median(times["import execlab"]) - bare
    helped = statistics.median(times["execlab --help"])
    print(f"import execlab: +{imported:.0f} ms (bar 50): {'met' if imported < 50 else 'NOT MET'}")
    print(f"execlab --help: {helped:.0f} ms (bar 400): {'met' if helped < 400 else 'NOT MET'}")


if __name__ == "__main__":
    main()
