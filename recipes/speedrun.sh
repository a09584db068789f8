#!/usr/bin/env bash
# Long sums on two CPU cores, from scratch, seeds 0, 1 and 2, one core per run, two runs side by side: addition of 5 digits
# with two budgets; and of 9 digits with products in bfloat16, beside `execlab reproduce headline` (recipes/publish.sh), which
# is in float32; and once more with both cores for one run. benchmarks/speedrun.py prints such runs beside their bars.
group=speedrun
source "$(dirname "$0")/train.bash"

five() { train "addition-5-$1" --preset speedrun --precision float32 --length 5 --samples 800000 --seed "$1" --data-seed "$1"; }
brief() {
  train "addition-5-$1-bfloat16-500000" --preset speedrun --precision bfloat16 --length 5 --samples 500000 --seed "$1" \
    --data-seed "$1"
}
nine() { train "addition-9-$1-bfloat16" --preset speedrun --precision bfloat16 --seed "$1" --data-seed "$1"; }

(five 0; brief 0; brief 1; nine 1; nine 2) &
(five 1; five 2; brief 2; nine 0) &
wait
train addition-9-0-bfloat16-2-cores --preset speedrun --precision bfloat16 --threads 2
