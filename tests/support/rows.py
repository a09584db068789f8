"""Rows of results for tests: every column has something of its kind."""

from __future__ import annotations

from typing import Any

from execlab.data.splits import DATA_VERSION
from execlab.experiments.analyse.rows import COLUMNS, NUMBERS, Row


def bare_row(**changes: Any) -> Row:
    """A row of zeros and empty texts, with changes."""
    bare = {name: 0 if name in NUMBERS else "" for name in COLUMNS} | {"data_version": DATA_VERSION}
    return Row(**bare | changes)
