#!/usr/bin/env bash
# Beside the table of Universal Transformers (2018): no curriculum but mix, scored free-running on the mix distribution.
# One model per task, seed 0, one core and products in bfloat16 each; a stopped one is resumed.
group=universal
source "$(dirname "$0")/train.bash"

one() { # name, then settings
  train "$@" --preset laptop --precision bfloat16 --strategy mix
  mkdir -p results/mix
  .venv/bin/execlab evaluate "runs/$group/$1" --strategy mix --count 5000 --json > "results/mix/$1.json.partial"
  mv "results/mix/$1.json.partial" "results/mix/$1.json"
}

one program-5x2 --task program --length 5 --nesting 2 --characters 60000000 &
(
  one addition-5 --task addition --length 5 --characters 20000000
  one memorization-55 --task memorization --length 55 --characters 30000000
) &
wait
