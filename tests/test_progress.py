"""Speed and remaining time over a sliding window, with a clock that the test moves."""

from __future__ import annotations

import pytest

from execlab.progress import POINTS, Rate, duration


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def work(rate: Rate, clock: Clock, *, done: float, seconds: int, per_second: float) -> float:
    """Update once a second at a constant speed; the amount done afterwards."""
    for _ in range(seconds):
        clock.now += 1.0
        done += per_second
        rate.update(done)
    return done


def test_nothing_is_known_before_the_second_update(clock: Clock) -> None:
    rate = Rate(100, clock=clock)
    assert (rate.per_second, rate.seconds_left, rate.remaining()) == (0.0, None, "")
    rate.update(0)
    assert (rate.per_second, rate.seconds_left, rate.remaining()) == (0.0, None, "")


def test_two_updates_at_the_same_time_divide_by_nothing(clock: Clock) -> None:
    rate = Rate(100, clock=clock)
    rate.update(0)
    rate.update(50)
    assert rate.per_second == 0.0


def test_the_first_update_is_the_start(clock: Clock) -> None:
    """A resumed run has done much before this process began."""
    rate = Rate(2_000, clock=clock)
    rate.update(1_000)
    work(rate, clock, done=1_000, seconds=5, per_second=10)
    assert rate.per_second == pytest.approx(10)
    assert rate.seconds_left == pytest.approx(95)


def test_only_the_last_seconds_count(clock: Clock) -> None:
    rate = Rate(10_000, window=20.0, clock=clock)
    rate.update(0)
    done = work(rate, clock, done=0, seconds=100, per_second=50)
    assert rate.per_second == pytest.approx(50)
    done = work(rate, clock, done=done, seconds=10, per_second=10)
    assert rate.per_second == pytest.approx(30)  # half of the window is slow
    done = work(rate, clock, done=done, seconds=10, per_second=10)
    assert rate.per_second == pytest.approx(10)  # the mean since the start would be 43
    assert rate.seconds_left == pytest.approx((10_000 - done) / 10)


def test_a_pause_longer_than_the_window_counts(clock: Clock) -> None:
    rate = Rate(window=20.0, clock=clock)
    rate.update(0)
    clock.now += 100
    rate.update(1_000)
    assert rate.per_second == pytest.approx(10)


def test_many_updates_need_little_memory(clock: Clock) -> None:
    rate = Rate(window=20.0, clock=clock)
    for done in range(50_000):
        rate.update(done)
        clock.now += 0.001
    assert len(rate.points) <= POINTS + 2
    assert rate.per_second == pytest.approx(1_000, rel=0.02)


def test_the_end_and_beyond(clock: Clock) -> None:
    rate = Rate(10, clock=clock)
    rate.update(0)
    work(rate, clock, done=0, seconds=4, per_second=5)
    assert rate.remaining() == "0 s left"


def test_texts(clock: Clock) -> None:
    rate = Rate(1_000_000, clock=clock)
    rate.update(0)
    work(rate, clock, done=0, seconds=10, per_second=1_234.4)
    assert rate.speed("characters") == "1,234 characters/s"
    assert rate.remaining() == "13 min left"
    assert [duration(seconds) for seconds in (0, 119, 121, 7_199, 7_200, 360_000)] == [
        "0 s",
        "119 s",
        "2 min",
        "120 min",
        "2.0 h",
        "100.0 h",
    ]
