#!/usr/bin/env bash
# What every model learns with its default size and the laptop preset: one core per run, seed 0, nothing chosen afterwards.
group=models
source "$(dirname "$0")/train.bash"

run_all() { # models
  for model in "$@"; do
    train "memorization-10-$model" --precision float32 --model "$model" --task memorization --length 10
    train "addition-2-$model" --precision float32 --model "$model" --task addition --length 2
  done
}

run_all transformer universal &
run_all lstm gru
wait
