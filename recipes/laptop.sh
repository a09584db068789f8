#!/usr/bin/env bash
# The numbers of docs/results.md: what the laptop preset reaches in minutes, seeds 0, 1 and 2.
# Every run has one core; two run side by side.
# A run that exists already is resumed, so this can be stopped and started again.
set -euo pipefail
cd "$(dirname "$0")/.."
execlab=.venv/bin/execlab

train() { # name, then settings
  local folder="runs/laptop/$1"
  if [ -f "$folder/config.json" ]; then
    $execlab train --resume "$folder"
  else
    $execlab train --threads 1 "${@:2}" --out "$folder"
  fi
  mkdir -p results/laptop
  cp "$folder/report.json" "results/laptop/$1.json"
}

run_all() { # seed
  train "addition-3-$1" --task addition --length 3 --seed "$1" --data-seed "$1"
  train "memorization-20-invert-$1" --task memorization --length 20 --invert --seed "$1" --data-seed "$1"
  train "program-2x1-$1" --task program --length 2 --nesting 1 --seed "$1" --data-seed "$1"
}

run_all 0 &
run_all 1 &
wait
run_all 2
