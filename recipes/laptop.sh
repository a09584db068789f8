#!/usr/bin/env bash
# The numbers of docs/results.md: what the laptop preset reaches in minutes, seeds 0, 1 and 2.
# About 35 minutes on two cores. A run that exists already is resumed, so this can be stopped and started again.
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

for seed in 0 1 2; do
  train "addition-3-$seed" --task addition --length 3 --seed $seed --data-seed $seed
  train "memorization-20-invert-$seed" --task memorization --length 20 --invert --seed $seed --data-seed $seed
  train "program-2x1-$seed" --task program --length 2 --nesting 1 --seed $seed --data-seed $seed
done
