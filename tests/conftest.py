"""One thread for every test: they are small, and two processes may share the machine."""

from __future__ import annotations

import os
import signal

from hypothesis import settings

os.environ.setdefault("OMP_NUM_THREADS", "1")

# Started in the background, a shell has children ignore Ctrl-C; the commands under test must hear it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("execlab", deadline=None)  # time is never asserted: machines are noisy
settings.load_profile("execlab")
