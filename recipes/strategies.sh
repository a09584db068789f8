#!/usr/bin/env bash
# What the adaptive strategies learn with the laptop preset: 3 digits, one core per run, seed 0, nothing chosen afterwards.
group=strategies
source "$(dirname "$0")/train.bash"

for strategy in online window sampling mastering_rate; do
  train "addition-3-$strategy" --precision float32 --strategy "$strategy" --task addition --length 3
done
