"""Random numbers: uniform, and the same everywhere."""

from __future__ import annotations

from collections import Counter

import pytest

from execlab.randomness import below, shuffled, stream


@pytest.mark.parametrize("bound", [1, 2, 6, 10, 40])
def test_below_is_uniform(bound: int) -> None:
    rng = stream("uniform", bound)
    counts = Counter(below(rng, bound) for _ in range(20_000))
    assert set(counts) == set(range(bound))
    expected = 20_000 / bound
    chi_square = sum((count - expected) ** 2 / expected for count in counts.values())
    assert chi_square <= bound + 5 * (2 * bound) ** 0.5


def test_large_bounds() -> None:
    rng = stream("large")
    values = [below(rng, 10**50) for _ in range(1_000)]
    assert 0 <= min(values) < 10**48
    assert 99 * 10**48 < max(values) < 10**50


def test_shuffled_is_a_permutation_and_fair() -> None:
    firsts = Counter(shuffled(stream("shuffle", i), "abcd")[0] for i in range(4_000))
    assert sorted(shuffled(stream("shuffle"), "abcd")) == list("abcd")
    assert all(count == pytest.approx(1_000, abs=150) for count in firsts.values())


def test_keys_are_told_apart() -> None:
    keys: list[tuple[int | str, ...]] = [
        (1, "2"),
        ("1", 2),
        ("a", "b"),
        ("a,b",),
        ('a", "b',),
        (12,),
        (1, 2),
        (),
        ("",),
    ]
    assert len({stream(*key).getrandbits(64) for key in keys}) == len(keys)


def test_golden_values() -> None:
    rng = stream(0, "train", "golden", 0)
    assert [below(rng, 1000) for _ in range(5)] == [671, 383, 916, 821, 354]
