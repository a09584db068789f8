#!/usr/bin/env bash
# The paper's headline on two CPU cores: addition of 9 digits from scratch, seeds 0, 1 and 2; and 5 digits.
# Every run has one core; two run side by side.
group=speedrun
source "$(dirname "$0")/train.bash"

train addition-9-0 --preset speedrun --length 9 --seed 0 --data-seed 0 &
train addition-9-1 --preset speedrun --length 9 --seed 1 --data-seed 1 &
wait
train addition-9-2 --preset speedrun --length 9 --seed 2 --data-seed 2 &
for seed in 0 1 2; do
  train "addition-5-$seed" --preset speedrun --length 5 --samples 800000 --seed $seed --data-seed $seed
done
wait
