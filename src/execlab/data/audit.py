"""The proof of the labels and of the splits: draws samples as everybody does and checks each of them anew.

For every split: how many distinct samples, how many are shared with another split (none may be) or with the
neighbouring seed (no more than chance), and whether the independent truth, and on request CPython in a process of
its own, agree with every target. Nor may two splits share a sample up to names: a canonical form, which is derived from
the text here, and not taken from the generator.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from itertools import combinations, islice
from math import sqrt
from typing import TYPE_CHECKING

from execlab.data.scramble import unscramble
from execlab.data.splits import DATA_VERSION, SPLITS, Split, split_of_canonical
from execlab.data.vocabulary import vocabulary_with
from execlab.errors import ExeclabError
from execlab.programs.cpython import run_in_cpython
from execlab.progress import silent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from execlab.data.sampling import Source
    from execlab.tasks import Sample, Task

BATCH = 1_000
PASSES = 9  # three splits, each drawn for this seed, for its neighbour and as a reference
MAX_EXAMPLES = 5


@dataclass(frozen=True)
class SplitAudit:
    """What one split holds."""

    drawn: int
    distinct: int
    duplicates: int
    misplaced: int  # samples that the hash puts into another split, or drawn with another canonical form
    shared_with_neighbour: int  # with the neighbouring seed (seed XOR 1)
    shared_by_chance: int  # with an independent stream of the same seed
    disagreements: int  # targets that the task's own truth denies
    cpython_disagreements: int | None  # None: not asked


@dataclass(frozen=True)
class Audit:
    """What was found; `failures` is empty if all is well."""

    splits: dict[Split, SplitAudit]
    overlaps: dict[str, int]
    overlaps_up_to_names: dict[str, int]
    failures: list[str]
    examples: list[str]
    data_version: int = DATA_VERSION

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return {**asdict(self), "passed": not self.failures}


def audit(source: Source, count: int, *, cpython: bool = False, advance: Callable[[int], None] = silent) -> Audit:
    """Check `count` samples of each split of this source, and of a neighbouring seed."""
    if count < 1:
        raise ExeclabError(f"count is {count}; an audit needs at least 1 sample")
    if cpython and not source.task.is_python:
        raise ExeclabError(f"--cpython is for tasks whose input is Python, and that of {source.task.name} is not")
    examples: list[str] = []
    seen: dict[Split, set[str]] = {}
    forms: dict[Split, set[str]] = {}
    splits: dict[Split, SplitAudit] = {}
    for split in SPLITS:
        own = replace(source, split=split)
        splits[split], seen[split], forms[split] = _audit_split(own, count, cpython, advance, examples)
    overlaps, up_to_names = (
        {f"{a}/{b}": len(of[a] & of[b]) for a, b in combinations(SPLITS, 2)} for of in (seen, forms)
    )
    return Audit(splits, overlaps, up_to_names, list(_failures(splits, overlaps, up_to_names)), examples)


def _audit_split(
    source: Source, count: int, cpython: bool, advance: Callable[[int], None], examples: list[str]
) -> tuple[SplitAudit, set[str], set[str]]:
    task = source.task
    known: dict[str, tuple[str, str]] = {}  # form and truth of every input; small spaces repeat themselves
    misplaced = disagreements = cpython_disagreements = 0
    for batch in _batches(source, count, advance):
        for sample in batch:
            if sample.input not in known:
                known[sample.input] = _examined(task, sample.input)
            form, truth = known[sample.input]
            misplaced += split_of_canonical(task.name, form) != source.split or sample.canonical not in ("", form)
            if truth != sample.target:
                disagreements += 1
                _note(examples, sample, truth)
        if cpython:
            for sample, printed in zip(batch, run_in_cpython([s.input for s in batch]), strict=True):
                if task.target_of(printed) != task.answer(sample.target):
                    cpython_disagreements += 1
                    _note(examples, sample, printed)
    inputs, forms = set(known), {form for form, _ in known.values()}
    neighbour, reference = (
        {sample.input for batch in _batches(other, count, advance) for sample in batch}
        for other in (replace(source, seed=source.seed ^ 1), replace(source, purpose="audit"))
    )
    found = SplitAudit(
        drawn=count,
        distinct=len(inputs),
        duplicates=count - len(inputs),
        misplaced=misplaced,
        shared_with_neighbour=len(inputs & neighbour),
        shared_by_chance=len(inputs & reference),
        disagreements=disagreements,
        cpython_disagreements=cpython_disagreements if cpython else None,
    )
    return found, inputs, forms


def _examined(task: Task, input: str) -> tuple[str, str]:
    """The canonical form and the target of an input; for one that has none the input itself, and why not."""
    try:
        return task.canonical(task.plain(input)), task.solve(input)
    except ExeclabError as error:
        return input, f"refused: {error}"


def _batches(source: Source, count: int, advance: Callable[[int], None]) -> Iterator[list[Sample]]:
    """The samples, unscrambled, a thousand at a time."""
    rows = source.rows(stop=count)
    while batch := [row.sample for row in islice(rows, BATCH)]:
        seed = source.scramble
        vocabulary = vocabulary_with(source.task.symbols)
        yield batch if seed is None else [unscramble(seed, sample, vocabulary) for sample in batch]
        advance(len(batch))


def _note(examples: list[str], sample: Sample, truth: str) -> None:
    if len(examples) < MAX_EXAMPLES:
        examples.append(f"{sample.input!r} is labelled {sample.target}, but it is {truth}")


def _failures(splits: dict[Split, SplitAudit], overlaps: dict[str, int], up_to_names: dict[str, int]) -> Iterator[str]:
    for shared_by, how in ((overlaps, ""), (up_to_names, " up to names")):
        for pair, shared in shared_by.items():
            if shared:
                yield f"{shared} samples stand in both splits of {pair}{how}"
    for split, found in splits.items():
        if found.misplaced:
            yield f"{found.misplaced} samples of {split} belong to another split"
        if found.disagreements:
            yield f"{found.disagreements} targets of {split} are not what the task's truth says"
        if found.cpython_disagreements:
            yield f"{found.cpython_disagreements} targets of {split} are not what CPython prints"
        # Six standard deviations of the difference of two counts, and never on a handful.
        allowed = found.shared_by_chance + 6 * sqrt(2 * found.shared_by_chance) + 6
        if found.shared_with_neighbour > allowed:
            yield (
                f"{found.shared_with_neighbour} samples of {split} return at the neighbouring seed; "
                f"chance would give about {found.shared_by_chance}"
            )
