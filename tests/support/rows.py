"""Rows of results for tests: every column has something of its kind."""

from __future__ import annotations

from typing import Any

from execlab.experiments.analyse.rows import COLUMNS, NUMBERS, Row


def bare_row(**changes: Any) -> Row:
    """A row of zeros and empty texts, with changes."""
    return Row(**{name: 0 if name in NUMBERS else "" for name in COLUMNS} | changes)
