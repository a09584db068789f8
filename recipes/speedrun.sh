#!/usr/bin/env bash
# The paper's headline on two CPU cores: addition of 9 digits from scratch, seeds 0, 1 and 2; and 5 digits.
# Every run has one core; two run side by side.
# A run that exists already is resumed, so this can be stopped and started again.
set -euo pipefail
cd "$(dirname "$0")/.."
execlab=.venv/bin/execlab

train() { # name, then settings
  local folder="runs/speedrun/$1"
  if [ -f "$folder/config.json" ]; then
    $execlab train --resume "$folder"
  else
    $execlab train --preset speedrun --threads 1 "${@:2}" --out "$folder"
  fi
  mkdir -p results/speedrun
  cp "$folder/report.json" "results/speedrun/$1.json"
}

train addition-9-0 --length 9 --seed 0 --data-seed 0 &
train addition-9-1 --length 9 --seed 1 --data-seed 1 &
wait
train addition-9-2 --length 9 --seed 2 --data-seed 2 &
for seed in 0 1 2; do
  train "addition-5-$seed" --length 5 --samples 800000 --seed $seed --data-seed $seed
done
wait
