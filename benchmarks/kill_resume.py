"""Kills training runs at random moments and counts those that do not end in the same bits.

    make setup && .venv/bin/python benchmarks/kill_resume.py [KILLS]

Both feeds, all strategies; every run is compared with one that was never interrupted: SHA-256 of the weights, and
metrics.jsonl but for the seconds.
"""

from __future__ import annotations

import hashlib
import json
import signal
import subprocess
import sys
import tempfile
import time
from itertools import cycle
from pathlib import Path

from execlab.curriculum import STRATEGIES
from execlab.randomness import below, stream
from execlab.training.checkpoints import listed

TRAIN = [sys.executable, "-m", "execlab", "train"]
KILLS_PER_RUN = 5
STEPS = 600


def start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen([*TRAIN, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def outcome(folder: Path) -> tuple[str, list[dict[str, object]]]:
    """What must be the same."""
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    for line in lines:
        del line["seconds"]
    return hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest(), lines


def newest(folder: Path) -> int:
    """The step of the newest checkpoint."""
    found = listed(folder / "checkpoints")
    return int(found[0].name.split("-")[1]) if found else -1


def main() -> None:
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    rng, done, wrong, resumed_at = stream("kill_resume"), 0, 0, list[int]()
    settings = cycle((feed, strategy) for strategy in STRATEGIES for feed in ("aligned", "stream"))
    with tempfile.TemporaryDirectory() as scratch:
        for number, (feed, strategy) in enumerate(settings):
            if done >= kills:
                break
            common = ["--preset", "smoke", "--feed", feed, "--window", "20", "--strategy", strategy]
            common += ["--steps", str(STEPS), "--evaluate-count", "8", "--test-count", "8", "--seed", str(number)]
            whole, broken = Path(scratch) / f"whole{number}", Path(scratch) / f"broken{number}"
            subprocess.run([*TRAIN, *common, "--out", str(whole)], check=True, capture_output=True)
            process = start(*common, "--out", str(broken))
            for _ in range(KILLS_PER_RUN):
                at = max(newest(broken), 0) + 10 + below(rng, STEPS // KILLS_PER_RUN - 10)
                while process.poll() is None and newest(broken) < at:
                    time.sleep(0.002)
                time.sleep(rng.random() * 0.05)
                if process.poll() is not None:
                    break
                process.send_signal(signal.SIGINT if done == 0 else signal.SIGKILL)
                process.communicate()
                done += 1
                process = start("--resume", str(broken))
            said = process.communicate()[1]
            if "from step " in said:
                resumed_at.append(int(said.split("from step ")[1].split("\n")[0].replace(",", "")))
            same = outcome(whole) == outcome(broken)
            wrong += not same
            print(f"{feed:8} {strategy:9} {done:3} kills so far: {'same bits' if same else 'DIFFERENT'}", flush=True)
    print(f"{done} kills, {wrong} runs that differ; resumed from steps {min(resumed_at)} to {max(resumed_at)}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
