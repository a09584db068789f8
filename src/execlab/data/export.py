"""Datasets as files: train, validation and test in JSON lines or Parquet, with a card that Hugging Face reads.

Rows are written as they are drawn, so a million of them need no more memory than a thousand. Every file is complete or
absent: it is written under a hidden name and renamed at the end, the card last of all. Where files are replaced, the
old card and the old files go first: a folder never holds splits of two datasets.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from execlab.data.sampling import Row, Source
from execlab.data.splits import DATA_VERSION, SPLITS, Split
from execlab.errors import ExeclabError, unknown
from execlab.files import partial_name, sync_folder
from execlab.progress import silent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

Format = Literal["jsonl", "parquet"]

Record = Callable[[Row], dict[str, object]]

ROW_GROUP = 10_000


class Shape(NamedTuple):
    """Rows in another form than `Source.record`: what a row becomes, and a paragraph of the card about it."""

    record: Callable[[Source, Row], dict[str, object]]
    about: str


def export(
    source: Source,
    counts: Mapping[Split, int],
    directory: Path,
    file_format: Format,
    *,
    force: bool = False,
    advance: Callable[[int], None] = silent,
    shape: Shape | None = None,
) -> list[Path]:
    """Write the splits and the card below `directory`; gives the paths. A `shape` gives rows another form."""
    if file_format not in WRITERS:
        raise unknown("format", file_format, WRITERS)
    # A split without rows has no file: Hugging Face would refuse to read it.
    paths = {split: directory / f"{split}.{file_format}" for split in SPLITS if counts[split]}
    card = directory / "README.md"
    for path in (*paths.values(), card):
        if path.is_dir() or (path.exists() and not force):
            raise ExeclabError(f"{path} exists already; choose another folder or say --force to replace files")
    old = [directory / f"{split}.{file_format}" for split in SPLITS] if force else []
    with _folder(directory), _all_or_nothing([*paths.values(), card], old) as hidden:
        for split, path in paths.items():
            of_split = replace(source, split=split)
            record = of_split.record if shape is None else partial(shape.record, of_split)
            WRITERS[file_format](of_split, record, counts[split], hidden[path], advance)
        about = "" if shape is None else f"\n{shape.about}\n"
        hidden[card].write_text(dataset_card(source, counts, file_format) + about, encoding="utf-8")
    return [*paths.values(), card]


@contextmanager
def _folder(directory: Path) -> Iterator[None]:
    """The folder, made if need be, and not left behind empty if the work fails."""
    made = [folder for folder in (directory, *directory.parents) if not folder.exists()]
    directory.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        for folder in made:
            folder.rmdir()
        raise


@contextmanager
def _all_or_nothing(paths: list[Path], old: list[Path]) -> Iterator[dict[Path, Path]]:
    """Hidden names to write to; they become the real ones if all goes well and vanish if anything does not.

    The `old` files, and before them the last of `paths`, are removed before the first one gets its name.
    """
    hidden = {path: partial_name(path) for path in paths}
    try:
        yield hidden
        for path in hidden.values():
            with path.open("rb") as file:
                os.fsync(file.fileno())
        for path in (paths[-1], *old) if old else ():
            path.unlink(missing_ok=True)
        for path, partial in hidden.items():
            partial.replace(path)
        sync_folder(paths[0].parent)
    finally:
        for partial in hidden.values():
            partial.unlink(missing_ok=True)


def _write_jsonl(source: Source, record: Record, count: int, path: Path, advance: Callable[[int], None]) -> None:
    rows = source.rows(stop=count)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        while group := list(islice(rows, ROW_GROUP)):
            file.writelines(json.dumps(record(row)) + "\n" for row in group)
            advance(len(group))


def _write_parquet(source: Source, record: Record, count: int, path: Path, advance: Callable[[int], None]) -> None:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise ExeclabError("Parquet needs pyarrow: pip install 'execlab[parquet]'") from None
    kinds = {int: pa.int64(), str: pa.string(), bool: pa.bool_(), type(None): pa.int64()}

    def kind_of(value: object) -> Any:
        if isinstance(value, dict):
            return pa.struct([(name, kind_of(part)) for name, part in value.items()])
        return pa.list_(kind_of(value[0])) if isinstance(value, list) else kinds[type(value)]

    schema = pa.schema([(name, kind_of(value)) for name, value in record(source.row(0)).items()])
    rows = source.rows(stop=count)
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        while group := [record(row) for row in islice(rows, ROW_GROUP)]:
            writer.write_table(pa.Table.from_pylist(group, schema=schema))
            advance(len(group))


WRITERS: dict[str, Callable[[Source, Record, int, Path, Callable[[int], None]], None]] = {
    "jsonl": _write_jsonl,
    "parquet": _write_parquet,
}


def dataset_card(source: Source, counts: Mapping[Split, int], file_format: Format) -> str:
    """The card: YAML that names the splits, and a page for people."""
    task, goal = source.task, source.goal
    files = "\n".join(f"  - split: {split}\n    path: {split}.{file_format}" for split in SPLITS if counts[split])
    rows = "\n".join(f"| {split} | {counts[split]:,} |" for split in SPLITS)
    options = ", ".join(f"{name} {json.dumps(value)}" for name, value in source.options.items())
    example = replace(source, split="train").row(0).sample
    return f"""---
license: apache-2.0
pretty_name: execlab {task.name} (length {goal.length}, nesting {goal.nesting})
task_categories:
- text-generation
configs:
- config_name: default
  data_files:
{files}
---

# execlab {task.name}

Samples of the task *{task.name}* of "Learning to Execute" (Zaremba & Sutskever, 2014), drawn by execlab:
length {goal.length}, nesting {goal.nesting}, seed {source.seed}, data version {DATA_VERSION}; {options}.

| split | rows |
|---|---|
{rows}

The splits share no sample: each is a class of a stable hash of the plain input. Draws are with replacement, so a
sample may occur twice within a split. `target` is exact. A row's `length` and `nesting` are those drawn for it.

```
{example.input}
```

Target: `{example.target}`
"""
