"""One thread for every test: they are small, and two processes may share the machine."""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
