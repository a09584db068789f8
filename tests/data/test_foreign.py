"""The audit of somebody else's file finds what belongs to a split, in every format, and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from execlab.data.foreign import audit_file
from execlab.data.sampling import Source
from execlab.errors import ExeclabError
from execlab.prompts import FORMS, Form, prompt_for
from execlab.tasks import Difficulty, Sample, make_task

if TYPE_CHECKING:
    from pathlib import Path

    from execlab.data.splits import Split

PROGRAM = make_task("program", {})
GOAL = Difficulty(4, 2)


def samples(split: Split, count: int, seed: int = 0) -> list[Sample]:
    return [row.sample for row in Source(PROGRAM, GOAL, split, seed).rows(stop=count)]


@pytest.mark.parametrize("form", ["jsonl", "parquet", "txt"])
def test_it_counts_what_belongs_to_each_split(form: str, tmp_path: Path) -> None:
    rows = [
        {"text": f"Here is a program.\n\n```python\n{sample.input}\n```\nWhat does it print?", "answer": sample.target}
        for sample in [*samples("train", 30), *samples("test", 7), *samples("validation", 5)]
    ]
    rows += [{"text": "import os\nos.remove('a')", "answer": "0"}, {"text": "no program", "answer": "1"}]
    path = tmp_path / f"data.{form}"
    if form == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif form == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        path.write_text(
            "\n\n".join(row["text"].partition("```python\n")[2].partition("\n```")[0] or row["text"] for row in rows)
        )
    found = audit_file(path, PROGRAM)
    assert found.splits == {"train": 30, "validation": 5, "test": 7}
    assert found.shared == 7
    assert found.others == 2
    assert found.wrong == 0
    assert audit_file(path, PROGRAM, "validation").shared == 5


@pytest.mark.parametrize("form", FORMS)
def test_it_reads_its_own_prompts(form: Form, tmp_path: Path) -> None:
    """Worked examples are programs too, and are those of train."""
    source = Source(PROGRAM, GOAL, "test")
    prompts = [prompt_for(source, sample.input, form) for sample in samples("test", 5)]
    path = tmp_path / "chat.jsonl"
    path.write_text("".join(json.dumps({"messages": prompt.messages}) + "\n" for prompt in prompts))
    found = audit_file(path, PROGRAM)
    assert found.splits == {"train": 15 * (form == "examples"), "validation": 0, "test": 5}
    path.write_text("".join(json.dumps({"prompt": prompt.text}) + "\n" for prompt in prompts))
    assert audit_file(path, PROGRAM).splits == found.splits


def test_wrong_labels_and_other_tasks(tmp_path: Path) -> None:
    path = tmp_path / "sums.jsonl"
    path.write_text('{"q": "print(17+25)", "answer": 42}\n{"q": "print(17+25)", "answer": "43"}\n["12345"]\nnull\n')
    found = audit_file(path, make_task("addition", {}))
    assert (sum(found.splits.values()), found.distinct, found.wrong, found.others) == (2, 1, 1, 2)
    digits = audit_file(path, make_task("memorization", {}))
    assert (sum(digits.splits.values()), digits.others) == (1, 3)


def test_a_line_per_program(tmp_path: Path) -> None:
    path = tmp_path / "sums.txt"
    path.write_text("print(17+25)\nprint(18+25)\nprint(19+25)\n")
    assert sum(audit_file(path, make_task("addition", {})).splits.values()) == 3


@pytest.mark.parametrize(("name", "content"), [("a.jsonl", b"{"), ("a.jsonl", b"[" * 200_000), ("a.parquet", b"PAR1")])
def test_broken_files_are_a_sentence(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ExeclabError, match="is not"):
        audit_file(tmp_path / name, PROGRAM)


def test_the_command(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    command = [sys.executable, "-m", "execlab", "audit", str(path), "--against"]
    path.write_text("".join(json.dumps(sample.input) + "\n" for sample in samples("test", 3)))
    done = subprocess.run([*command, "test"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "3 belong to the test split" in done.stdout
    done = subprocess.run([*command, "train", "--json"], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["splits"]["test"] == 3
