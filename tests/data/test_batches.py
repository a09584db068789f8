"""The two feeds against slow, obviously right constructions."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from execlab.data.batches import AlignedFeed, Batch, Lesson, StreamFeed, encode, pack
from execlab.data.splits import split_of
from execlab.data.vocabulary import END_MARK, VOCABULARY
from execlab.tasks import Difficulty, Sample
from execlab.tasks.addition import AdditionTask
from execlab.tasks.memorization import MemorizationTask
from execlab.tasks.program import ProgramTask

PROGRAMS = Lesson(ProgramTask(), Difficulty(6, 3), "mix", seed=4)
GOAL = Difficulty(6, 3)


def rows_of(batch: Batch) -> list[tuple[str, list[int]]]:
    """Each row's characters and targets."""
    rows: list[tuple[str, list[int]]] = [("", []) for _ in range(batch.batch_sizes[0])]
    place = 0
    for count in batch.batch_sizes:
        for row in range(count):
            text, targets = rows[row]
            rows[row] = (text + VOCABULARY[batch.ids[place]], [*targets, int(batch.targets[place])])
            place += 1
    assert place == len(batch.ids) == len(batch.targets)
    return rows


def test_encode() -> None:
    assert encode(VOCABULARY).tolist() == list(range(41))


def test_pack_by_hand() -> None:
    batch = pack([Sample("12", "12"), Sample("1", "1")])
    assert batch.samples == 2
    long, short = rows_of(batch)
    two, one, end = (VOCABULARY.index(c) for c in "21.")
    assert long == ("12.12", [-1, -1, one, two, end])
    assert short == ("1.1", [-1, one, end])


def test_every_sample_is_whole_and_every_output_character_counts_once() -> None:
    """And nothing else is read: no padding."""
    samples = list(islice(PROGRAMS.samples(PROGRAMS.stream("x", 0, 0, GOAL), GOAL), 100))
    batch = pack(samples)
    found = []
    for text, targets in rows_of(batch):
        said = "".join(VOCABULARY[t] for t in targets if t >= 0)
        read = text[: targets.index(next(t for t in targets if t >= 0))]
        assert said.endswith(END_MARK)
        assert text == f"{read}{END_MARK}{said[:-1]}"
        found.append(Sample(read, said[:-1]))
    assert sorted(found) == sorted(samples)
    assert (np.diff(batch.batch_sizes) <= 0).all()


def test_batches_are_functions_of_seed_step_and_difficulty() -> None:
    for make in (lambda: AlignedFeed(PROGRAMS, 8), lambda: StreamFeed(PROGRAMS, 8, 20, 10)):
        feed = make()
        in_order = [feed.batch(step, GOAL) for step in range(25)]
        for step in (24, 3, 10, 11, 0):
            assert same(make().batch(step, GOAL), in_order[step])
            assert same(feed.batch(step, GOAL), in_order[step])
        # What was drawn for another difficulty leaves no trace.
        feed.batch(10, Difficulty(1, 1))
        assert same(feed.batch(10, GOAL), in_order[10])
        assert not same(feed.batch(10, Difficulty(2, 2)), feed.batch(11, Difficulty(2, 2)))


def same(one: Batch, other: Batch) -> bool:
    arrays = ((one.ids, other.ids), (one.targets, other.targets), (one.batch_sizes, other.batch_sizes))
    return one.samples == other.samples and all(np.array_equal(a, b) for a, b in arrays)


@pytest.mark.parametrize("window", [7, 50])
def test_the_stream_is_what_a_slow_construction_gives(window: int) -> None:
    """Per row and segment: write samples one after the other while they fit, fill up, cut into windows."""
    rows, segment, steps = 5, 12, 30
    feed = StreamFeed(PROGRAMS, rows, window, segment)
    size = segment * window
    for row in range(rows):
        text, marks, ends = "", [], []
        for number in range(3):
            samples = PROGRAMS.samples(PROGRAMS.stream("stream", number, row, GOAL), GOAL)
            part, part_marks = "", []
            while True:
                sample = next(samples)
                whole = sample.input + END_MARK + sample.target + END_MARK
                if len(part) + len(whole) > size:
                    break
                part += whole
                part_marks += [False] * len(sample.input) + [True] * (len(sample.target) + 1) + [False]
                ends.append(number * size + len(part) - 1)
            text += part.ljust(size, END_MARK)
            marks += part_marks + [False] * (size - len(part))
        for step in range(steps):
            found, targets = rows_of(feed.batch(step, GOAL))[row]
            begin = step * window
            assert found == text[begin : begin + window]
            assert targets == [VOCABULARY.index(text[i + 1]) if marks[i] else -1 for i in range(begin, begin + window)]


def test_samples_are_counted_where_they_end() -> None:
    feed = StreamFeed(PROGRAMS, 6, 25, 20)
    counted = sum(feed.batch(step, GOAL).samples for step in range(20))
    texts = ["".join(rows_of(feed.batch(step, GOAL))[row][0] for step in range(20)) for row in range(6)]
    # Every sample has two end marks; the filling at the end is made of end marks too.
    assert counted == sum(text.rstrip(END_MARK).count(END_MARK) // 2 + 1 for text in texts)


@pytest.mark.parametrize("task", [ProgramTask(), AdditionTask(), MemorizationTask(invert=True, double=True)])
def test_training_reads_the_train_split_only(task: ProgramTask | AdditionTask | MemorizationTask) -> None:
    goal = Difficulty(3)
    for strategy in ("baseline", "naive", "mix", "combined"):
        lesson = Lesson(task, goal, strategy)
        for sample in islice(lesson.samples(lesson.stream("x", 0, 0, Difficulty(1)), Difficulty(1)), 200):
            assert split_of(task.name, task.plain(sample.input)) == "train"
