#!/usr/bin/env bash
# Long sums on two CPU cores: addition of 5 digits from scratch, seeds 0, 1 and 2. Every run has one core; two run side by
# side. The paper's headline, 9 digits, is `execlab reproduce headline` (recipes/publish.sh).
group=speedrun
source "$(dirname "$0")/train.bash"

for seed in 0 1; do
  train "addition-5-$seed" --preset speedrun --length 5 --samples 800000 --seed $seed --data-seed $seed &
done
wait
train addition-5-2 --preset speedrun --length 5 --samples 800000 --seed 2 --data-seed 2
