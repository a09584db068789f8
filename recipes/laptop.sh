#!/usr/bin/env bash
# The numbers of docs/results.md: what the laptop preset reaches in minutes, seeds 0, 1 and 2.
# About 30 minutes on two cores: seed 0 with both of them, seeds 1 and 2 side by side with one each.
# A run that exists already is resumed, so this can be stopped and started again.
set -euo pipefail
cd "$(dirname "$0")/.."
execlab=.venv/bin/execlab

train() { # name, then settings
  local folder="runs/laptop/$1"
  if [ -f "$folder/config.json" ]; then
    $execlab train --resume "$folder"
  else
    $execlab train "${@:2}" --out "$folder"
  fi
  mkdir -p results/laptop
  cp "$folder/report.json" "results/laptop/$1.json"
}

three_seeds() { # name, then settings
  train "$1-0" "${@:2}" --seed 0 --data-seed 0
  train "$1-1" "${@:2}" --seed 1 --data-seed 1 --threads 1 &
  train "$1-2" "${@:2}" --seed 2 --data-seed 2 --threads 1 &
  wait
}

three_seeds addition-3 --task addition --length 3
three_seeds memorization-20-invert --task memorization --length 20 --invert
three_seeds program-2x1 --task program --length 2 --nesting 1
