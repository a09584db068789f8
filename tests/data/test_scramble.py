"""Scrambling: a permutation of the vocabulary, newline and end mark apart, and its inverse."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from execlab.data.scramble import permutation, scramble, unscramble
from execlab.data.vocabulary import VOCABULARY
from execlab.randomness import stream
from execlab.tasks import TASKS, Difficulty, Sample, make_task


@given(seed=st.integers(0, 2**63 - 1), text=st.text(VOCABULARY), target=st.text("0123456789-"))
def test_unscramble_is_the_inverse(seed: int, text: str, target: str) -> None:
    assert unscramble(seed, scramble(seed, Sample(text, target))) == Sample(text, target)


def test_it_is_a_permutation_that_keeps_newline_and_end_mark() -> None:
    for seed in range(50):
        table = permutation(seed)
        assert sorted(table) == sorted(table.values())
        assert set(map(chr, table)) == set(VOCABULARY) - set("\n.")
    assert permutation(1) != permutation(2)


def test_the_vocabulary_covers_every_task() -> None:
    seen = set("\n.")
    for name in TASKS:
        for options in ({}, {"dialect": "appendix", "layout": "indented"}, {"invert": True, "double": True}):
            try:
                task = make_task(name, options)
            except ValueError:
                continue
            for i in range(2_000):
                sample = task.draw(stream("vocabulary", i), Difficulty(1 + i % 9))
                seen |= set(task.render(sample).input + sample.target)
    assert seen == set(VOCABULARY)
    assert len(VOCABULARY) == len(set(VOCABULARY)) == 41
