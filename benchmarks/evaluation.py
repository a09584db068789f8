"""How long an evaluation takes: 2,000 programs at length 4, nesting 3 with a network of the paper's size.

    make setup && .venv/bin/python benchmarks/evaluation.py

Beside it, the same samples read one at a time (on 50 of them), in one run.
"""

from __future__ import annotations

import time

import torch

from execlab.data.sampling import Source
from execlab.evaluation.decoding import Reader, answer
from execlab.evaluation.evaluate import evaluate
from execlab.tasks import Difficulty
from execlab.tasks.program import ProgramTask
from execlab.training.config import PRESETS
from execlab.training.weights import make_model


def main() -> None:
    model = make_model(PRESETS["paper"])
    model.initialize(0)
    reader, source = Reader(model), Source(ProgramTask(), Difficulty(4, 3), "test")
    begin = time.perf_counter()
    evaluate(reader, source, 2_000)
    together = time.perf_counter() - begin
    samples = [row.sample for row in source.rows(stop=50)]
    begin = time.perf_counter()
    for sample in samples:
        answer(reader, [sample])
    alone = (time.perf_counter() - begin) * 2_000 / len(samples)
    print(f"2,000 samples at (4, 3), {torch.get_num_threads()} threads: {together:.1f} s (bar 20)", end=": ")
    print("met" if together < 20 else "NOT MET")
    print(f"one at a time they would take {alone:.0f} s: {alone / together:.1f} times as long")


if __name__ == "__main__":
    main()
