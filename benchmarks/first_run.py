"""The first minutes with execlab: `make run` in a fresh clone of this checkout, and the tests if they are asked for.

    python3 benchmarks/first_run.py [--busy 0 1] [--tests] [--git URL_OR_FOLDER]

Needs nothing but python3, make and git. What is committed is cloned into a temporary folder, which is removed in the
end. Prints what was installed, what that took, and the seconds from then to the finished network, with each number of
busy processes beside it. `--tests` adds `make test-fast` and `make test`, both after their own installation.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
OTHER_MEGABYTES = 1_000
NETWORK_SECONDS = {0: 180, 1: 360}  # busy processes: seconds
TEST_SECONDS = {"test-fast": 90, "test": 540}
SHOWN = 8  # packages that are listed
SIZES = """
import json, os
from importlib.metadata import distributions
size = lambda path: path.stat().st_size if path.is_file() and not path.is_symlink() else 0
print(json.dumps({d.metadata["Name"].lower(): sum(size(f.locate()) for f in d.files or ()) for d in distributions()}))
"""


def size(folder: Path) -> int:
    """Bytes of all files in a folder."""
    places = (Path(where) / name for where, _, names in os.walk(folder) for name in names)
    return sum(place.stat().st_size for place in places if not place.is_symlink())


def is_pytorch(package: str) -> bool:
    """PyTorch and what it brings for GPUs."""
    return package in ("torch", "triton") or package.startswith(("nvidia-", "cuda-"))


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Processes that use a core each."""
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def make(target: str, clone: Path) -> float:
    """Make a target in the clone; gives the seconds."""
    log, begin = clone.parent / "log", time.time()
    own = ("PYTHONPATH", "VIRTUAL_ENV", "MAKEFLAGS", "MAKELEVEL")
    environment = {name: value for name, value in os.environ.items() if name not in own}
    with log.open("wb") as output:
        done = subprocess.run(
            ["make", target], cwd=clone, env=environment, stdout=output, stderr=subprocess.STDOUT, check=False
        )
    if done.returncode:
        sys.exit(f"make {target} failed:\n{log.read_text(errors='replace')[-3000:]}")
    return time.time() - begin


def verdict(value: float, bar: float | None) -> str:
    """A figure beside its bar, if it has one."""
    return "" if bar is None else f" (bar: under {bar:,}): {'met' if value < bar else 'NOT MET'}"


def installed(clone: Path) -> None:
    """Print what `make run` installs."""
    seconds = make(".venv/run-ready", clone)
    print(f"installed for `make run` in {seconds:.0f} s")
    asked = subprocess.run([clone / ".venv/bin/python", "-c", SIZES], check=True, capture_output=True, text=True)
    packages: dict[str, int] = json.loads(asked.stdout)
    pytorch = sum(count for name, count in packages.items() if is_pytorch(name))
    other = (size(clone / ".venv") - pytorch) / 1e6
    print(f"PyTorch's own {pytorch / 1e6:,.0f} MB, beside it {other:,.0f} MB{verdict(other, OTHER_MEGABYTES)}")
    others = sorted(((count, name) for name, count in packages.items() if not is_pytorch(name)), reverse=True)
    print("the largest: " + ", ".join(f"{name} {count / 1e6:.0f}" for count, name in others[:SHOWN]), flush=True)


def network(clone: Path, beside: int) -> None:
    """Print how long the first network takes with so many busy processes beside it."""
    first = clone / "runs" / "first"
    rmtree(first, ignore_errors=True)
    begin = time.time()
    with busy(beside):
        whole = make("run", clone)
    finished = (first / "report.json").stat().st_mtime - begin
    report = json.loads((first / "report.json").read_text(encoding="utf-8"))
    exact = report["test"]["exact_match"]["value"]
    print(
        f"{beside} busy: finished network after {finished:.0f} s{verdict(finished, NETWORK_SECONDS.get(beside))}; "
        f"exact match {exact:.2%}; `make run` ended after {whole:.0f} s",
        flush=True,
    )


def tests(clone: Path) -> None:
    """Print how long the tests take."""
    print(f"installed for the tests in {make('.venv/test-ready', clone):.0f} s more", flush=True)
    for target, bar in TEST_SECONDS.items():
        seconds = make(target, clone)
        print(f"make {target}: {seconds:.0f} s{verdict(seconds, bar)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--busy", type=int, nargs="*", default=[0], help="busy processes beside it, run by run")
    parser.add_argument("--tests", action="store_true")
    parser.add_argument("--git", default=str(ROOT), help="what is cloned")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "execlab"
        subprocess.run(["git", "clone", "--quiet", asked.git, str(clone)], check=True)
        print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start", flush=True)
        installed(clone)
        for beside in asked.busy:
            network(clone, beside)
        if asked.tests:
            tests(clone)


if __name__ == "__main__":
    main()
