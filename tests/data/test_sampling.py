"""Sources: row i depends on its own arguments alone, in every process and on every Python."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

import execlab
from execlab.data.sampling import BLOCK, Source
from execlab.data.splits import DATA_VERSION, SPLITS, split_of
from execlab.errors import ExeclabError
from execlab.tasks import TASKS, Difficulty, make_task
from execlab.tasks.addition import AdditionTask
from execlab.tasks.program import ProgramTask

GOLDEN = Path(__file__).with_name("golden.jsonl")
PROGRAMS = Source(ProgramTask(), Difficulty(4, 3), "test", seed=7)

# Prints the golden rows and a digest of many more; needs nothing but the core, so any Python can run it.
SCRIPT = """
import hashlib, json
from execlab.data.sampling import Source
from execlab.data.splits import SPLITS
from execlab.tasks import Difficulty, make_task
VARIANTS = [
    ("program", {"dialect": "released"}, (4, 3)), ("program", {"dialect": "appendix", "layout": "indented"}, (6, 5)),
    ("program", {}, (50, 10)), ("addition", {}, (9, 1)), ("memorization", {}, (1, 1)),
    ("memorization", {"invert": True, "double": True}, (65, 1)),
]
digest = hashlib.sha256()
for task, options, difficulty in VARIANTS:
    for strategy in ("baseline", "mix"):
        for split in SPLITS:
            for seed, scramble in ((0, None), (7, 3)):
                source = Source(make_task(task, options), Difficulty(*difficulty), split, seed, strategy, scramble)
                for row in source.rows(stop=130):
                    line = json.dumps(source.record(row))
                    digest.update(line.encode())
                    if row.number in (0, 100):
                        print(line)
print(digest.hexdigest())
"""


def run_script(python: str = sys.executable, **environment: str) -> str:
    source = str(Path(execlab.__file__).parents[1])
    return subprocess.run(
        [python, "-W", "error", "-c", SCRIPT],
        env={**os.environ, "PYTHONPATH": source, "PYTHONDONTWRITEBYTECODE": "1", **environment},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_golden_rows() -> None:
    """If this fails on purpose, raise DATA_VERSION and write the file anew: `make golden`."""
    assert run_script() == GOLDEN.read_text()
    assert json.loads(GOLDEN.read_text().split("\n")[0])["data_version"] == DATA_VERSION


def test_same_bytes_whatever_the_hash_seed() -> None:
    assert run_script(PYTHONHASHSEED="1") == run_script(PYTHONHASHSEED="2") == GOLDEN.read_text()


def _works(python: str) -> bool:
    return subprocess.run([python, "--version"], capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("version", ["3.10", "3.12", "3.13", "3.14"])
def test_same_bytes_on_other_pythons(version: str) -> None:
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    candidates = [*pyenv.glob(f"versions/{version}.*/bin/python"), shutil.which(f"python{version}")]
    python = next((str(path) for path in candidates if path and _works(str(path))), None)
    if python is None:
        pytest.skip(f"python{version} is not on this machine")
    assert run_script(python) == GOLDEN.read_text()


def test_a_row_does_not_depend_on_what_else_is_drawn() -> None:
    many = list(PROGRAMS.rows(stop=5 * BLOCK + 3))
    assert [row.number for row in many] == list(range(5 * BLOCK + 3))
    for start, stop in [(0, 1), (0, BLOCK), (BLOCK - 1, BLOCK + 1), (70, 71), (3, 3), (130, 300)]:
        assert list(PROGRAMS.rows(start, stop)) == many[start:stop]
    assert [PROGRAMS.row(i) for i in (0, 63, 64, 200)] == [many[i] for i in (0, 63, 64, 200)]
    assert list(islice(PROGRAMS.rows(), 100)) == many[:100]


def test_neighbouring_seeds_share_nothing_beyond_chance() -> None:
    for source in (replace(PROGRAMS, goal=Difficulty(9, 3)), Source(AdditionTask(), Difficulty(9))):
        streams = [{row.sample for row in replace(source, seed=s).rows(stop=3_000)} for s in range(6)]
        assert all(not a & b for i, a in enumerate(streams) for b in streams[:i])


def test_everything_that_names_a_stream_changes_it() -> None:
    others = [
        replace(PROGRAMS, seed=8),
        replace(PROGRAMS, split="train"),
        replace(PROGRAMS, goal=Difficulty(4, 4)),
        replace(PROGRAMS, strategy="mix"),
        replace(PROGRAMS, purpose="other"),
        replace(PROGRAMS, task=ProgramTask(dialect="appendix")),
    ]
    base = [row.sample for row in PROGRAMS.rows(stop=50)]
    for other in others:
        assert [row.sample for row in other.rows(stop=50)] != base


def test_mix_draws_the_difficulty_per_sample_and_says_which() -> None:
    source = Source(AdditionTask(), Difficulty(4), "test", strategy="mix")
    counts = dict.fromkeys(range(1, 5), 0)
    for row in source.rows(stop=2_000):
        counts[row.difficulty.length] += 1
        assert len(row.sample.input) == len("print(+)") + 2 * row.difficulty.length
        assert source.record(row)["length"] == row.difficulty.length
    # Uniform even at length 1, where the splits are of unequal size.
    assert all(count == pytest.approx(500, abs=100) for count in counts.values())


def test_splits_of_a_source() -> None:
    for name in TASKS:
        for split in SPLITS:
            source = Source(make_task(name, {}), Difficulty(5), split)
            for row in source.rows(stop=20):
                record = source.record(row)
                assert record["split"] == split == split_of(name, source.task.plain(str(record["input"])))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"seed": -1}, "seed is -1"),
        ({"seed": 2**63}, "2\\^63 - 1"),
        ({"scramble": -2}, "scramble is -2"),
        ({"strategy": "naive"}, "choose baseline, mix"),
        ({"split": "dev"}, "choose train"),
        ({"goal": Difficulty(51)}, "from 1 to 50"),
        ({"goal": Difficulty(1, 11)}, "from 1 to 10"),
    ],
)
def test_bad_sources(change: dict[str, object], reason: str) -> None:
    with pytest.raises(ExeclabError, match=reason):
        replace(PROGRAMS, **change)  # type: ignore[arg-type]


if __name__ == "__main__":
    GOLDEN.write_text(run_script())
