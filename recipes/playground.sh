#!/usr/bin/env bash
# The models that ship with the playground: one core per run, seed 0, nothing chosen afterwards.
group=playground
source "$(dirname "$0")/train.bash"

(
  for strategy in combined mix naive baseline; do
    train "addition-4-$strategy" --preset laptop --precision float32 --task addition --length 4 --strategy "$strategy" \
      --samples 400000
  done
  train memorization-20 --preset laptop --precision float32 --task memorization --length 20 --invert
) &
train program-2x1 --preset laptop --precision float32 --task program --length 2 --nesting 1
wait
for name in addition-4-{combined,mix,naive,baseline} memorization-20 program-2x1; do
  .venv/bin/python recipes/ship.py "$name=runs/$group/$name"
done
