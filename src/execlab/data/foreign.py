r"""The audit of somebody else's data: which of its texts are inputs of a task, and in which of execlab's splits.

Reads JSON lines, Parquet, or text. Every text of a row is looked at, however deep it stands, and of a longer text every
fenced block. In a text file each paragraph is a row; so is each line, in case there is one input per line.

>>> from execlab.tasks.addition import AdditionTask
>>> sorted(inputs_in(AdditionTask(), {"prompt": "What is this?\n```python\nprint(17+25)\n```", "n": 3}))
['print(17+25)']
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from execlab.data.splits import SPLITS, Split, split_of
from execlab.errors import ExeclabError
from execlab.files import open_regular

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from execlab.tasks import Task

MAX_EXAMPLES = 5
LONGEST = 10_000  # characters of a text that can be an input
ANSWERS = ("target", "answer", "output", "label")  # columns that may hold the label of the row's only input
_BLOCK = re.compile(r"```[^\n`]*\n([^`]*?)\n?```")
_PRINTS = re.compile(r"print\([^\n]*\)$")


@dataclass(frozen=True)
class ForeignAudit:
    """What was found; a row counts once for every input in it."""

    against: Split
    splits: dict[Split, int]
    distinct: int
    wrong: int  # labels that are not what the task's truth says
    others: int  # rows without an input of the task
    examples: list[str]

    @property
    def shared(self) -> int:
        """Inputs that belong to the split in question."""
        return self.splits[self.against]

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return {**asdict(self), "shared": self.shared}


def audit_file(path: Path, task: Task, against: Split = "test") -> ForeignAudit:
    """Look at every row of a file."""
    counts = dict.fromkeys(SPLITS, 0)
    seen: set[str] = set()
    wrong = others = 0
    examples: list[str] = []
    for row in _rows(path):
        found = inputs_in(task, row)
        others += not found
        for text, plain in found.items():
            split = _split_of(task, plain)
            counts[split] += 1
            seen.add(plain)
            if split == against and len(examples) < MAX_EXAMPLES:
                examples.append(f"{against}: {text!r}")
        wrong += len(found) == 1 and _is_wrong(task, next(iter(found)), row)
    return ForeignAudit(against, counts, len(seen), wrong, others, examples)


def _split_of(task: Task, plain: str) -> Split:
    """The split of an input of whatever origin: the one place that decides it."""
    return split_of(task, plain)


def inputs_in(task: Task, row: object) -> dict[str, str]:
    """The inputs of the task in a row, and how each is written plainly."""
    found: dict[str, str] = {}
    for text in _texts(row):
        for candidate in [text, *_BLOCK.findall(text), *_lines(text)]:
            candidate = candidate.strip().removesuffix(".")
            if candidate and len(candidate) <= LONGEST and candidate not in found:
                try:
                    task.solve(candidate)
                    found[candidate] = task.plain(candidate)
                except ExeclabError:
                    continue
    return found


def _texts(value: object) -> Iterator[str]:
    """All texts in a value; labels are none."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item.replace("\r\n", "\n")
        elif isinstance(item, Mapping):
            waiting += [part for name, part in item.items() if name not in ANSWERS]
        elif isinstance(item, list):
            waiting += item


def _lines(text: str) -> Iterator[str]:
    """Programs in a text without a fence: a paragraph that ends in a line with print."""
    for part in re.split(r"\n\s*\n|\nOutput:|\nWork:", text):
        lines = part.removeprefix("Input:\n").split("\n")
        if _PRINTS.match(lines[-1].strip()):
            yield "\n".join(lines)


def _is_wrong(task: Task, text: str, row: object) -> bool:
    if not isinstance(row, Mapping):
        return False
    label = next((row[name] for name in ANSWERS if isinstance(row.get(name), str | int)), None)
    return label is not None and str(label).strip().removesuffix(".") != task.solve(text)


def _rows(path: Path) -> Iterator[object]:
    if path.suffix == ".parquet":
        yield from _parquet(path)
    elif path.suffix in (".jsonl", ".ndjson", ".json"):
        yield from _jsonl(path)
    else:
        yield from _paragraphs(path)


def _jsonl(path: Path) -> Iterator[object]:
    with open_regular(path) as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                try:
                    row: Any = json.loads(line)
                except (ValueError, RecursionError):
                    raise ExeclabError(
                        f"{path}, line {number} is not JSON; a .jsonl file has one value per line"
                    ) from None
                yield row


def _parquet(path: Path) -> Iterator[object]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise ExeclabError("Parquet needs pyarrow: pip install 'execlab[parquet]'") from None
    try:
        with open_regular(path) as file:
            for batch in pq.ParquetFile(file).iter_batches(batch_size=10_000):
                yield from batch.to_pylist()
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise ExeclabError(f"{path} is not a Parquet file that can be read") from None


def _paragraphs(path: Path) -> Iterator[object]:
    lines: list[str] = []
    with open_regular(path) as file:
        for raw in file:
            line = raw.decode("utf-8", "replace").rstrip("\r\n")
            if line.strip():
                lines.append(line)
            elif lines:
                yield from _paragraph(lines)
                lines = []
    if lines:
        yield from _paragraph(lines)


def _paragraph(lines: list[str]) -> list[str]:
    """A paragraph as a row; if each of its lines could be an input, every line."""
    whole = sum(bool(_PRINTS.search(line)) or line.strip().isdecimal() for line in lines) == len(lines)
    return list(lines) if whole else ["\n".join(lines)]
