"""How many characters `combined` needs: the budgets of the laptop grids are 1.5 times that (src/execlab/experiments).

    python recipes/calibrate.py [WORKERS]    # every cell below, one core each; what was stopped is resumed

For each cell one run of the preset laptop with a seed that no published run has, on the validation split; it is stopped
when 90 % of the characters are right at the goal (teacher-forced), or at the end of its trial budget, and then the next
larger one is tried: the learning rate falls at the end of a budget, so a larger one is another run. Writes
results/calibration.json, trials that did not get there included.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Any

from execlab.training.metrics import read_metrics

ROOT = Path(__file__).parent.parent
RECORD = ROOT / "results" / "calibration.json"
WANTED = 0.9
SEED = "100"
MILLION = 1_000_000
Cell = tuple[str, int, int]  # task, length, nesting
TRIALS: dict[Cell, list[int]] = {  # millions of characters at most
    **{("addition", length, 1): [most] for length, most in ((2, 4), (3, 6), (4, 8), (5, 12))},
    **{("memorization", length, 1): [most] for length, most in ((5, 4), (15, 10), (25, 16))},
    **{("program", *cell): [12, 24] for cell in ((1, 2), (2, 1), (1, 3))},
    **{("program", *cell): [24] for cell in ((2, 2), (3, 1))},  # a larger one could not be paid twelve times anyway
}
BFLOAT16 = [("program", 2, 2), ("program", 3, 1)]  # measured later than the others, as the grid is: in bfloat16


def calibrate(cell: Cell, most: int) -> dict[str, Any]:
    task, length, nesting = cell
    precision = "bfloat16" if cell in BFLOAT16 else "float32"
    folder = ROOT / "runs" / "calibration" / f"{task}-{length}x{nesting}-{most // MILLION}"
    words = [sys.executable, "-m", "execlab", "train"]
    if (folder / "checkpoints").exists():
        words += ["--resume", str(folder)]
    else:
        words += ["--preset", "laptop", "--task", task, "--length", str(length), "--nesting", str(nesting)]
        words += ["--seed", SEED, "--data-seed", SEED, "--threads", "1", "--characters", str(most)]
        words += ["--precision", precision]
        words += ["--out", str(folder)]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while True:
        over = process.poll() is not None
        lines = read_metrics(folder)
        reached = next((line for line in lines if line.goal_teacher_forced_accuracy >= WANTED), None)
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
        "precision": precision,
        "trial": most,
        "characters": reached and reached.characters,
        "best": max((line.goal_teacher_forced_accuracy for line in lines), default=0.0),
        "read": lines[-1].characters if lines else 0,
        "seconds": round(lines[-1].seconds) if lines else 0,
    }
    print(json.dumps(found), flush=True)
    return found


def main() -> None:
    known = json.loads(RECORD.read_text()) if RECORD.exists() else []
    reached = {(line["task"], line["length"], line["nesting"], line["trial"]): line["characters"] for line in known}
    writing = Lock()

    def one(cell: Cell) -> None:
        for millions in TRIALS[cell]:
            trial = (*cell, millions * MILLION)
            if trial not in reached:
                found = calibrate(cell, millions * MILLION)
                with writing:
                    known.append(found)
                    RECORD.write_text("[\n" + ",\n".join(" " + json.dumps(line) for line in known) + "\n]\n")
                reached[trial] = found["characters"]
            if reached[trial]:
                return

    with ThreadPoolExecutor(int(sys.argv[1]) if len(sys.argv) > 1 else 2) as pool:
        list(pool.map(one, TRIALS))


if __name__ == "__main__":
    main()
