"""Exported chats: whole rows in both formats, with the interpreter's trace on request."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

import execlab
from execlab.data.export import export
from execlab.data.sampling import Source
from execlab.errors import ExeclabError
from execlab.prompts import FORMS, Form, chat_rows, question_of, with_work
from execlab.tasks import Difficulty, make_task

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = Source(make_task("program", {}), Difficulty(3, 2), seed=2)


@pytest.mark.parametrize("form", FORMS)
def test_rows_hold_prompt_answer_metadata_and_trace(form: Form, tmp_path: Path) -> None:
    shape = with_work(chat_rows(form))
    for kind in ("jsonl", "parquet"):
        export(SOURCE, {"train": 8, "validation": 0, "test": 4}, tmp_path / kind, kind, shape=shape)
    rows = [json.loads(line) for line in (tmp_path / "jsonl" / "test.jsonl").read_text().splitlines()]
    assert pq.read_table(tmp_path / "parquet" / "test.parquet").to_pylist() == rows
    assert len(rows) == 4
    for row in rows:
        assert list(row) == ["prompt", "answer", "metadata", "scratchpad"]
        question = question_of(row["prompt"][-1]["content"])
        assert question == row["metadata"]["question"]
        assert execlab.execute(question) == int(row["answer"])
        assert row["metadata"]["split"] == "test"
        assert row["scratchpad"].startswith("line 1: ")
    card = (tmp_path / "jsonl" / "README.md").read_text()
    assert f"in the form *{form}*" in card
    assert "`scratchpad`" in card


def test_the_trace_alone(tmp_path: Path) -> None:
    export(SOURCE, {"train": 2, "validation": 0, "test": 0}, tmp_path, "jsonl", shape=with_work(None))
    row = json.loads((tmp_path / "train.jsonl").read_text().splitlines()[0])
    assert {"input", "target", "scratchpad"} <= row.keys()


def test_scrambled_samples_have_neither(tmp_path: Path) -> None:
    scrambled = Source(SOURCE.task, SOURCE.goal, scramble=1)
    for shape in (chat_rows("plain"), with_work(None)):
        with pytest.raises(ExeclabError, match="scrambled"):
            export(scrambled, {"train": 2, "validation": 0, "test": 0}, tmp_path / "new", "jsonl", shape=shape)
        assert not (tmp_path / "new").exists()
