"""How many characters `combined` needs: the budgets of the laptop grids are 1.5 times that (experiments/grids.py).

    python recipes/calibrate.py [WORKERS]    # every cell below, one core each; what was stopped is resumed

For each cell one run of the preset laptop with a seed that no published run has, on the validation split; it is stopped
when 90 % of the characters are right at the goal (teacher-forced), or at the end of its trial budget. Writes
results/calibration.json.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from execlab.training.runs import read_metrics

ROOT = Path(__file__).parent.parent
RECORD = ROOT / "results" / "calibration.json"
WANTED = 0.9
SEED = "100"
MILLION = 1_000_000
TRIALS = [  # task, length, nesting, characters at most
    *(("addition", length, 1, characters * MILLION) for length, characters in ((2, 4), (3, 6), (4, 8), (5, 12))),
    *(("memorization", length, 1, characters * MILLION) for length, characters in ((5, 4), (15, 10), (25, 16))),
    ("program", 1, 1, 12 * MILLION),
    ("program", 1, 2, 24 * MILLION),
    ("program", 2, 1, 24 * MILLION),
    ("program", 3, 1, 32 * MILLION),
    ("program", 2, 2, 32 * MILLION),
]


def calibrate(trial: tuple[str, int, int, int]) -> dict[str, Any]:
    task, length, nesting, most = trial
    folder = ROOT / "runs" / "calibration" / f"{task}-{length}x{nesting}"
    words = [sys.executable, "-m", "execlab", "train"]
    if (folder / "checkpoints").exists():
        words += ["--resume", str(folder)]
    else:
        words += ["--preset", "laptop", "--task", task, "--length", str(length), "--nesting", str(nesting)]
        words += ["--seed", SEED, "--data-seed", SEED, "--threads", "1", "--characters", str(most)]
        words += ["--out", str(folder)]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while True:
        over = process.poll() is not None
        lines = read_metrics(folder)
        reached = next((line for line in lines if line["goal_teacher_forced_accuracy"] >= WANTED), None)
        if reached or over:
            break
        time.sleep(1)
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    if process.wait() and not reached:
        raise SystemExit(f"the run in {folder} did not come to its end; nothing is recorded")
    found = {
        "task": task,
        "length": length,
        "nesting": nesting,
        "trial": most,
        "characters": reached and reached["characters"],
        "best": max((line["goal_teacher_forced_accuracy"] for line in lines), default=0.0),
        "read": lines[-1]["characters"] if lines else 0,
        "seconds": round(lines[-1]["seconds"]) if lines else 0,
    }
    print(json.dumps(found), flush=True)
    return found


def main() -> None:
    known = json.loads(RECORD.read_text()) if RECORD.exists() else []
    done = {(line["task"], line["length"], line["nesting"], line["trial"]) for line in known}
    left = [trial for trial in TRIALS if trial not in done]
    with ThreadPoolExecutor(int(sys.argv[1]) if len(sys.argv) > 1 else 2) as pool:
        for found in pool.map(calibrate, left):
            known.append(found)
            RECORD.write_text("[\n" + ",\n".join(" " + json.dumps(line) for line in known) + "\n]\n")


if __name__ == "__main__":
    main()
