#!/usr/bin/env bash
# The grids in results/ at scale laptop, then figures and documents from all that is there (laptop.sh, speedrun.sh, playground.sh
# and universal.sh make the single runs). It takes many hours; stop it and start it again at will: what has a row is not run
# again. The rows in results/ are of data version 1; execlab 0.3 refuses to add to them, so give it other folders.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

.venv/bin/python recipes/calibrate.py
for experiment in headline addition memorization; do
  .venv/bin/execlab reproduce $experiment --scale laptop --out results/$experiment
done
.venv/bin/execlab reproduce programs --scale laptop --precision auto --out results/programs
for experiment in statistics orders; do # half of their runs are among those of programs
  .venv/bin/execlab reproduce $experiment --scale laptop --precision auto --out results/$experiment \
    --rows-of results/programs
done
.venv/bin/execlab report results --fill README.md --fill docs/results.md
