#!/usr/bin/env bash
# One small published cell once more from scratch: addition of 2 digits, all four strategies, seed 0 (a few minutes).
# The rows are of data version 1: run this with execlab 0.2; later ones refuse in a sentence.
# The same kind of machine and the same versions give the same accuracies to the last digit; otherwise it says what differs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec .venv/bin/execlab recheck results/addition --runs 'addition-2x1-*-0' "$@"
