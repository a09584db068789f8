"""The one way that files are written and read."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import pytest

from execlab.errors import ExeclabError
from execlab.files import open_to_append, read_regular, write_atomically

if TYPE_CHECKING:
    from pathlib import Path


def test_a_file_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_bytes(b"old")
    for mode in (0o600, 0o664):
        path.chmod(mode)
        write_atomically(path, b"new")
        assert stat.S_IMODE(path.stat().st_mode) == mode


def test_no_link_leads_out_of_the_root(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (outside / "a").write_text("theirs")
    (root / "below").symlink_to(outside)
    (root / "a").symlink_to(outside / "a")
    with pytest.raises(ExeclabError, match="behind a link that leads out of"):
        write_atomically(root / "below" / "a", b"ours", root=root)
    write_atomically(root / "a", b"ours", root=root)  # the link is replaced
    assert (root / "a").read_text() == "ours"
    (root / "log").symlink_to(outside / "a")
    with pytest.raises(ExeclabError, match="is a link"), open_to_append(root / "log", root):
        pass
    assert (outside / "a").read_text() == "theirs"
    assert sorted(path.name for path in outside.iterdir()) == ["a"]


def test_a_link_that_the_user_named_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    write_atomically(tmp_path / "link", b"new")
    assert (tmp_path / "real").read_text() == "new"
    assert (tmp_path / "link").is_symlink()


def test_a_refused_write_leaves_nothing_behind(tmp_path: Path) -> None:
    def refuse() -> None:
        raise ExeclabError("no longer ours")

    (tmp_path / "a").write_text("old")
    with pytest.raises(ExeclabError, match="no longer ours"):
        write_atomically(tmp_path / "a", b"new", refuse)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]


def test_only_regular_files_of_a_size_are_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ExeclabError, match="not a regular file"):
        read_regular(tmp_path / "pipe")
    with pytest.raises(ExeclabError, match="not a regular file"):
        read_regular(tmp_path)
    (tmp_path / "large").write_bytes(bytes(11))
    with pytest.raises(ExeclabError, match="larger than 10 bytes"):
        read_regular(tmp_path / "large", 10)
    assert read_regular(tmp_path / "large", 11) == bytes(11)


def test_appended_lines_are_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    with open_to_append(tmp_path / "lines", tmp_path) as file:
        file.write(b"a\n")
    with open_to_append(tmp_path / "lines", tmp_path) as file:
        file.write(b"b\n")
    assert len(synced) == 2
    assert (tmp_path / "lines").read_bytes() == b"a\nb\n"
