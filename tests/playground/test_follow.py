"""Following metrics.jsonl: every line once, only new bytes are read, and a file that was rewritten is noticed."""

from __future__ import annotations

import json
import shutil
import time
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

import httpx
import pytest

from execlab.files import open_regular, write_atomically
from execlab.playground import follow
from execlab.playground.follow import CHUNK, MARK, RESET, Follower
from execlab.playground.schemas import MAX_DIFFICULTIES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from serving import Server


def lines(*steps: int) -> bytes:
    return b"".join(b'{"step": %d, "accuracy": 0.%d}\n' % (step, step) for step in steps)


def news(follower: Follower) -> list[int | str]:
    """All that is new: steps, and "reset"."""
    events = list[int | str]()
    more = True
    while more:
        text, more, _ = follower.look()
        for event in text.split("\n\n")[:-1]:
            events.append("reset" if event + "\n\n" == RESET else json.loads(event.split("data: ")[1])["step"])
    return events


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "metrics.jsonl"


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def test_a_file_grows(path: Path) -> None:
    follower = Follower(path.parent)
    assert news(follower) == []
    append(path, lines(1, 2))
    assert news(follower) == [1, 2]
    assert news(follower) == []
    append(path, lines(3) + b'{"st')  # cut off
    assert news(follower) == [3]
    assert news(follower) == []
    append(path, b'ep": 4}\n')
    assert news(follower) == [4]


def test_bad_lines_are_skipped(path: Path) -> None:
    deep, long = b"[" * 100_000 + b"\n", b'{"step": 7, "x": "%s"}\n'
    bad = deep + b'\n\xff\n[]\n{"step": NaN}\n' + long % (b"x" * CHUNK) + long % (b"x" * 3 * CHUNK)
    path.write_bytes(lines(1) + bad + lines(2) + bad + lines(3) + long % (b"x" * (CHUNK - 100)))
    follower = Follower(path.parent)
    assert news(follower) == [1, 2, 3, 7]
    append(path, b"x" * (CHUNK + 5))  # too long, and not yet at its end
    assert news(follower) == []
    append(path, b'x\n{"step": 8}\n')
    assert news(follower) == [8]


@pytest.mark.parametrize(
    ("value", "shares"),
    [
        ([[2, 1, 0.75], [1, 1, 0.25]], [[1, 1, 0.25], [2, 1, 0.75]]),
        ([[1, 1, 1]], [[1, 1, 1]]),
        (
            [[1, 1, 0.5], [1, 1], [1, 2, 3, 4], 7, None, "x", {}, [[1], 1, 0.5], [1, 1.5, 0.5], [True, 1, 0.5]],
            [[1, 1, 0.5]],
        ),
        ([[1, 1, 0.0], [2, 1, -1], [3, 1, 1.1], [4, 1, float("nan")], [5, 1, True], [6, 1, "0.5"]], None),
        ([[0, 1, 0.5], [1, 0, 0.5], [-1, 1, 0.5], [10**30, 1, 0.5]], None),
        ({"1": 1}, None),
        ("much", None),
        (None, None),
    ],
)
def test_a_distribution_of_difficulties(path: Path, value: object, shares: object) -> None:
    """What is malformed is left out, and the rest of the line is kept."""
    path.write_text(json.dumps({"step": 1, "distribution": value}) + "\n")
    event = json.loads(Follower(path.parent).look().events.split("data: ")[1])
    assert event == {"step": 1} | ({"distribution": shares} if shares else {})


def test_a_distribution_is_bounded(path: Path) -> None:
    entries = [[length, nesting, length / 10_000] for length in range(1, 101) for nesting in range(1, 11)]
    path.write_text(json.dumps({"step": 1, "distribution": entries}) + "\n")
    shares = json.loads(Follower(path.parent).look().events.split("data: ")[1])["distribution"]
    assert len(shares) == MAX_DIFFICULTIES
    assert min(length for length, _, _ in shares) == 81  # the largest shares are kept


def test_a_rewritten_file(path: Path) -> None:
    follower = Follower(path.parent)
    path.write_bytes(lines(*range(1, 10)))
    assert news(follower) == list(range(1, 10))
    write_atomically(path, lines(*range(1, 10)))  # resumed from where it was
    assert news(follower) == []
    write_atomically(path, lines(*range(1, 12)))
    assert news(follower) == [10, 11]
    write_atomically(path, lines(1, 2, 3))  # resumed from an earlier step
    assert news(follower) == ["reset", 1, 2, 3]
    write_atomically(path, lines(1, 2, 4, 5))  # longer, and different
    assert news(follower) == ["reset", 1, 2, 4, 5]
    path.write_bytes(lines(6, 7, 8, 9, 10))  # in place, longer
    assert news(follower) == ["reset", 6, 7, 8, 9, 10]
    path.write_bytes(lines(6))
    assert news(follower) == ["reset", 6]
    path.unlink()
    assert news(follower) == ["reset"]
    assert news(follower) == []
    path.write_bytes(lines(1))
    assert news(follower) == [1]


def test_a_look_reads_only_what_is_new(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    count = 0

    class Counted:
        def __init__(self, file: IO[bytes]) -> None:
            self.file = file

        def __getattr__(self, name: str) -> Any:
            return getattr(self.file, name)

        def read(self, size: int) -> bytes:
            nonlocal count
            data = self.file.read(size)
            count += len(data)
            return data

    @contextmanager
    def counted(path: Path) -> Iterator[Any]:
        with open_regular(path) as file:
            yield Counted(file)

    monkeypatch.setattr(follow, "open_regular", counted)
    path.write_bytes(b"".join(b'{"step": %d, "x": "%s"}\n' % (step, b"x" * 1000) for step in range(10_000)))
    size = path.stat().st_size
    assert size > 10_000_000
    follower = Follower(path.parent)
    assert len(news(follower)) == 10_000
    assert count < 1.1 * size
    count = 0
    assert news(follower) == []
    assert count == 0
    append(path, lines(5))
    assert news(follower) == [5]
    assert count <= len(lines(5)) + MARK


def events(server: Server, run: str) -> Iterator[str]:
    """What a client sees, for at most ten seconds."""
    late = time.monotonic() + 10
    with httpx.stream("GET", f"{server.url}/api/runs/{run}/metrics", timeout=8) as stream:
        event = ""
        for line in stream.iter_lines():
            assert time.monotonic() < late
            if line.startswith("event: "):
                event = line.removeprefix("event: ")
            elif line.startswith("data: "):
                step = json.loads(line.removeprefix("data: ")).get("step", "")
                yield f"{event} {step}".strip()


def test_what_a_client_sees_of_a_resumed_run(server: Server) -> None:
    run = server.runs / "resumed"
    shutil.copytree(server.runs / "finished", run)
    try:
        report = (run / "report.json").read_bytes()
        (run / "report.json").unlink()
        (run / "metrics.jsonl").write_bytes(lines(1) + b"nonsense\n" + lines(2))
        time.sleep(1.1)  # a walk through the folders is remembered for a second
        seen = events(server, "resumed")
        assert [next(seen) for _ in range(2)] == ["metrics 1", "metrics 2"]
        write_atomically(run / "metrics.jsonl", lines(1, 3))
        assert [next(seen) for _ in range(3)] == ["reset", "metrics 1", "metrics 3"]
        append(run / "metrics.jsonl", lines(4))
        (run / "report.json").write_bytes(report)
        assert list(seen) == ["metrics 4", "end"]
    finally:
        shutil.rmtree(run)


def test_a_removed_run_ends(path: Path) -> None:
    follower = Follower(path.parent / "none")
    with pytest.raises(ValueError, match="was removed"):
        follower.look()
