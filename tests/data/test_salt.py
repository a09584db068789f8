"""The salt of the splits is the first number that is fair to every small space."""

from __future__ import annotations

from hashlib import blake2b
from itertools import product

import pytest

from execlab.data.splits import SALT, SPLITS, split_of_canonical
from execlab.randomness import stream
from execlab.tasks import Difficulty, make_task
from execlab.tasks.program import ProgramTask

SMALL = 1_000  # canonical forms
PLUS_MINUS = ("+", "-")


def texts() -> dict[tuple[str, str, int], list[str]]:
    """All inputs of task, operation and length, wherever they have fewer than 1,000 canonical forms."""
    digits, ten, hundred = range(10), range(1, 11), range(1, 101)
    small = {1: range(1, 5), 2: range(1, 9)}
    return {
        ("memorization", "", 1): [str(a) for a in digits],
        ("memorization", "", 2): [f"{a:02}" for a in range(100)],
        ("addition", "", 1): [f"print({a}+{b})" for a, b in product(range(1, 10), repeat=2)],
        ("program", "identity", 1): [f"print({a})" for a in ten],
        ("program", "identity", 2): [f"print({a})" for a in hundred],
        ("program", "addition", 1): [f"print(({a}+{b}))" for a, b in product(ten, ten)],
        ("program", "subtraction", 1): [f"print(({a}-{b}))" for a, b in product(ten, ten)],
        ("program", "multiplication", 1): [f"print(({a}*{k}))" for a, k in product(ten, small[1])],
        ("program", "multiplication", 2): [f"print(({a}*{k}))" for a, k in product(hundred, small[2])],
        ("program", "assignment", 1): [f"v={a}\nprint(v)" for a in ten],
        ("program", "assignment", 2): [f"v={a}\nprint(v)" for a in hundred],
        ("program", "assignment with a sum", 1): [
            f"v={a};\nprint((v{s}{b}))" for a, s, b in product(ten, PLUS_MINUS, ten)
        ],
        ("program", "loop", 1): [
            f"v={a}\nfor x in range({n}):v{s}={b}\nprint(v)" for a, n, s, b in product(ten, small[1], PLUS_MINUS, ten)
        ],
    }


def spaces() -> list[tuple[str, set[str]]]:
    """Their canonical forms, smallest space first."""
    found = [(task, set(map(make_task(task, {}).canonical, inputs))) for (task, _, _), inputs in texts().items()]
    return sorted(found, key=lambda space: len(space[1]))


def fair(salt: str, task: str, space: set[str]) -> bool:
    """Whether no split has under 30 % of a space."""
    counts = [0, 0, 0]
    for form in space:
        digest = blake2b(f"{salt} {task} {form}".encode(), digest_size=8).digest()
        counts[int.from_bytes(digest, "big") % 3] += 1
    return min(counts) >= 0.3 * len(space)


def test_the_salt_is_fair() -> None:
    for task, space in spaces():
        assert len(space) < SMALL
        assert fair(SALT, task, space)
        shares = [sum(split_of_canonical(task, form) == split for form in space) for split in SPLITS]
        assert min(shares) >= 0.3 * len(space)
        if len(space) == 10:
            assert sorted(shares) == [3, 3, 4]


@pytest.mark.long
def test_no_smaller_salt_is_fair() -> None:
    small = spaces()
    assert next(str(salt) for salt in range(10**9) if all(fair(str(salt), *space) for space in small)) == SALT


def test_these_are_all_the_small_spaces() -> None:
    """What single operations draw is in the spaces above, or has at least a thousand forms."""
    assert SMALL <= 10**3  # memorization at length 3
    assert SMALL <= 90 * 91 // 2  # addition at length 2
    assert SMALL <= 10**3  # a literal at length 3
    forms = {
        (operation, length): {ProgramTask().canonical(text) for text in inputs}
        for (task, operation, length), inputs in texts().items()
        if task == "program"
    }
    for length in (1, 2):
        known = set[str]().union(*(of for (_, its), of in forms.items() if its == length))
        for dialect, operations in (
            ("released", ["addition", "multiplication", "identity", "assignment", "loop", "conditional"]),
            ("appendix", ["addition", "subtraction", "multiplication", "conditional", "loop", "assignment"]),
        ):
            for operation in operations:
                task = make_task("program", {"dialect": dialect, "operations": operation})
                rng = stream("space", dialect, operation, length)
                drawn = {task.draw(rng, Difficulty(length)).canonical for _ in range(5_000)}
                assert drawn <= known or len(drawn) >= SMALL, (dialect, operation, length)
