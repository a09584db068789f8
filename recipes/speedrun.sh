#!/usr/bin/env bash
# The paper's headline on two CPU cores: addition of 9 digits from scratch, seeds 0, 1 and 2; and 5 digits.
# Seed 0 has both cores; seeds 1 and 2 run side by side with one core each.
# A run that exists already is resumed, so this can be stopped and started again.
set -euo pipefail
cd "$(dirname "$0")/.."
execlab=.venv/bin/execlab

train() { # name, then settings
  local folder="runs/speedrun/$1"
  if [ -f "$folder/config.json" ]; then
    $execlab train --resume "$folder"
  else
    $execlab train --preset speedrun --task addition "${@:2}" --out "$folder"
  fi
  mkdir -p results/speedrun
  cp "$folder/report.json" "results/speedrun/$1.json"
}

three_seeds() { # name, then settings
  train "$1-0" "${@:2}" --seed 0 --data-seed 0
  train "$1-1" "${@:2}" --seed 1 --data-seed 1 --threads 1 &
  train "$1-2" "${@:2}" --seed 2 --data-seed 2 --threads 1 &
  wait
}

three_seeds addition-9 --length 9
three_seeds addition-5 --length 5 --samples 500000
