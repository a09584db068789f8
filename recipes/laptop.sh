#!/usr/bin/env bash
# What the laptop preset reaches in minutes, seeds 0, 1 and 2 (programs: publish.sh).
# Every run has one core; two run side by side.
group=laptop
source "$(dirname "$0")/train.bash"

run_all() { # seed
  train "addition-3-$1" --precision float32 --task addition --length 3 --seed "$1" --data-seed "$1"
  train "memorization-20-invert-$1" --precision float32 --task memorization --length 20 --invert --seed "$1" \
    --data-seed "$1"
}

run_all 0 &
run_all 1 &
wait
run_all 2
