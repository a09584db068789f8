"""The two feeds against slow, obviously right constructions."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from execlab.curriculum import make_strategy
from execlab.data.batches import AlignedFeed, Batch, Lesson, StreamFeed, encode, pack
from execlab.data.splits import split_of
from execlab.data.vocabulary import END_MARK, VOCABULARY
from execlab.tasks import Difficulty, Sample
from execlab.tasks.addition import AdditionTask
from execlab.tasks.memorization import MemorizationTask
from execlab.tasks.program import ProgramTask

GOAL = Difficulty(6, 3)
PROGRAMS = Lesson(ProgramTask(), make_strategy("mix", GOAL), "mix", seed=4)


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
    batch = pack([(Difficulty(2), Sample("12", "12")), (Difficulty(1), Sample("1", "1"))])
    assert batch.samples == 2
    assert batch.drawn == {(1, 1): 1, (2, 1): 1}
    assert batch.groups.tolist() == [1, 0, 1, 0, 1, 0, 1, 1]
    long, short = rows_of(batch)
    two, one, end = (VOCABULARY.index(c) for c in "21.")
    assert long == ("12.12", [-1, -1, one, two, end])
    assert short == ("1.1", [-1, one, end])


def test_every_sample_is_whole_and_every_output_character_counts_once() -> None:
    """And nothing else is read: no padding."""
    drawn = list(islice(PROGRAMS.samples("x", 0, 0), 100))
    batch = pack(drawn)
    found = []
    for text, targets in rows_of(batch):
        said = "".join(VOCABULARY[t] for t in targets if t >= 0)
        read = text[: targets.index(next(t for t in targets if t >= 0))]
        assert said.endswith(END_MARK)
        assert text == f"{read}{END_MARK}{said[:-1]}"
        found.append(Sample(read, said[:-1]))
    assert sorted(found) == sorted(Sample(sample.input, sample.target) for _, sample in drawn)
    assert (np.diff(batch.batch_sizes) <= 0).all()


def test_batches_are_functions_of_seed_step_and_strategy() -> None:
    for make in (lambda: AlignedFeed(PROGRAMS, 8), lambda: StreamFeed(PROGRAMS, 8, 20, 10)):
        feed = make()
        in_order = [feed.batch(step) for step in range(25)]
        for step in (24, 3, 10, 11, 0):
            assert same(make().batch(step), in_order[step])
            assert same(feed.batch(step), in_order[step])
        assert not same(feed.batch(10), feed.batch(11))


def test_a_stair_later_other_samples_are_drawn() -> None:
    climbing = make_strategy("naive", GOAL)
    lesson = Lesson(ProgramTask(), climbing, "naive")
    for feed in (AlignedFeed(lesson, 8), StreamFeed(lesson, 8, 20, 10)):
        climbing.load_state_dict({**climbing.state_dict(), "stair": 0})
        before = feed.batch(10)
        climbing.load_state_dict({**climbing.state_dict(), "stair": 3})
        assert set(feed.batch(10).drawn) == {climbing.current}
        climbing.load_state_dict({**climbing.state_dict(), "stair": 0})
        assert same(feed.batch(10), before)


def test_every_counted_character_has_the_difficulty_of_its_sample() -> None:
    lesson = Lesson(AdditionTask(), make_strategy("mix", Difficulty(3)), "mix")
    for feed in (AlignedFeed(lesson, 16), StreamFeed(lesson, 16, 40, 10)):
        batch = feed.batch(0)
        ends = [VOCABULARY[t] == END_MARK for t in batch.targets[batch.targets >= 0]]
        assert sum(ends) == batch.samples
        by_group = np.bincount(batch.groups[batch.targets >= 0][ends], minlength=len(batch.drawn))
        assert by_group.tolist() == list(batch.drawn.values())


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
            samples = PROGRAMS.samples("stream", number, row)
            part, part_marks = "", []
            while True:
                _, sample = next(samples)
                whole = sample.input + END_MARK + sample.target + END_MARK
                if len(part) + len(whole) > size:
                    break
                part += whole
                part_marks += [False] * len(sample.input) + [True] * (len(sample.target) + 1) + [False]
                ends.append(number * size + len(part) - 1)
            text += part.ljust(size, END_MARK)
            marks += part_marks + [False] * (size - len(part))
        for step in range(steps):
            found, targets = rows_of(feed.batch(step))[row]
            begin = step * window
            assert found == text[begin : begin + window]
            assert targets == [VOCABULARY.index(text[i + 1]) if marks[i] else -1 for i in range(begin, begin + window)]


def test_samples_are_counted_where_they_end() -> None:
    feed = StreamFeed(PROGRAMS, 6, 25, 20)
    counted = sum(feed.batch(step).samples for step in range(20))
    texts = ["".join(rows_of(feed.batch(step))[row][0] for step in range(20)) for row in range(6)]
    # Every sample has two end marks; the filling at the end is made of end marks too.
    assert counted == sum(text.rstrip(END_MARK).count(END_MARK) // 2 + 1 for text in texts)


@pytest.mark.parametrize("task", [ProgramTask(), AdditionTask(), MemorizationTask(invert=True, double=True)])
def test_training_reads_the_train_split_only(task: ProgramTask | AdditionTask | MemorizationTask) -> None:
    goal = Difficulty(3)
    for strategy in ("baseline", "naive", "mix", "combined"):
        lesson = Lesson(task, make_strategy(strategy, goal), strategy)
        for _, sample in islice(lesson.samples("x", 0, 0), 200):
            assert split_of(task.name, task.plain(sample.input)) == "train"
