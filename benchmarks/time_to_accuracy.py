"""How soon recipes reach an accuracy: side by side in one run, the paper's recipe as the row of ratio 1.

    make setup && .venv/bin/python benchmarks/time_to_accuracy.py --length 4 [--recipes laptop adamw] [--out DIR]

Every recipe trains with execlab's own loop and step; time is wall-clock, evaluations included; accuracies are those of
500 validation samples at the goal. With `--minutes` every recipe gets that much time and fits its schedule to it;
otherwise a recipe has the budget of its preset. The paper's recipe comes last and is stopped when it has had `--times`
times as long as the first recipe took to 95 % (teacher-forced). DIR gets the rows (JSON) and a picture.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from matplotlib.figure import Figure

from execlab.training import hardware, loop
from execlab.training.config import Config, make_config
from execlab.training.view import View

if TYPE_CHECKING:
    from collections.abc import Callable

    from execlab.training.metrics import Metrics

LEVELS = (0.5, 0.9, 0.95, 0.99)
KINDS = {"teacher-forced": "goal_teacher_forced_accuracy", "exact match": "goal_exact_match"}
PAPER = "paper"
RECIPES: dict[str, dict[str, Any]] = {
    "laptop": {"preset": "laptop"},
    "speedrun": {"preset": "speedrun"},
    "plain start": {"preset": "laptop", "chrono": 0.0, "forget_bias": 1.0},
    "adamw": {"preset": "laptop", "optimizer": "adamw", "learning_rate": 3e-3, "cells": 256, "batch": 32},
    "baseline": {"preset": "laptop", "strategy": "baseline"},
    PAPER: {"preset": "paper"},
}


class EnoughError(Exception):
    """The recipe has had its time."""


class Watch(View):
    """Notes the wall-clock of every evaluation, and ends the run after so many seconds."""

    def __init__(self, seconds: float, enough: Callable[[dict[str, Any]], bool]) -> None:
        self.seconds, self.enough, self.began = seconds, enough, time.perf_counter()
        self.lines: list[dict[str, Any]] = []

    def evaluated(self, metrics: Metrics, predictions: object) -> None:
        """One line; maybe the last."""
        del predictions
        elapsed = time.perf_counter() - self.began
        line = metrics.to_json() | {"wall_clock": elapsed}
        self.lines.append(line)
        marks = "  ".join(f"{kind} {line[column]:.1%}" for kind, column in KINDS.items())
        print(f"  {elapsed:7.0f} s  {line['samples']:>9,} samples  length {line['length']}  {marks}", flush=True)
        if elapsed > self.seconds or self.enough(line):
            raise EnoughError


def run(config: Config, seconds: float, enough: Callable[[dict[str, Any]], bool]) -> list[dict[str, Any]]:
    """The evaluations of a recipe."""
    watch = Watch(seconds, enough)
    with tempfile.TemporaryDirectory() as folder, suppress(EnoughError):
        loop.train(config, Path(folder) / "run", view=watch)
    return watch.lines


def first(lines: list[dict[str, Any]], column: str, level: float) -> dict[str, Any] | None:
    """The first evaluation at or above a level."""
    return next((line for line in lines if line[column] >= level), None)


def table(found: dict[str, list[dict[str, Any]]]) -> None:
    """Per recipe what each level took, and how much sooner than the paper's recipe that was."""
    for kind, column in KINDS.items():
        print(f"\n{kind:16}" + "".join(f"{f'{level:.0%}':>42}" for level in LEVELS))
        print(" " * 16 + f"{'samples':>12}{'characters':>14}{'seconds':>8}{'ratio':>8}" * len(LEVELS))
        for name, lines in found.items():
            cells = []
            for level in LEVELS:
                reached = first(lines, column, level)
                if reached is None:
                    cells.append(f"{'-':>12}{'-':>14}{'-':>8}{'-':>8}")
                    continue
                ratio = "-"
                if reference := found.get(PAPER):
                    theirs = first(reference, column, level)
                    sign = "" if theirs else "> "
                    ratio = f"{sign}{(theirs or reference[-1])['wall_clock'] / reached['wall_clock']:.1f}"
                cells.append(
                    f"{reached['samples']:>12,}{reached['characters']:>14,}{reached['wall_clock']:>8.0f}{ratio:>8}"
                )
            print(f"{name:16}" + "".join(cells))


def picture(found: dict[str, list[dict[str, Any]]], title: str, path: Path) -> None:
    """Accuracy against wall-clock."""
    figure = Figure(figsize=(9, 4), layout="constrained", dpi=130)
    for axes, (kind, column) in zip(figure.subplots(1, 2, sharey=True), KINDS.items(), strict=True):
        for (name, lines), style in zip(
            found.items(), ("-", "--", "-.", ":", (0, (5, 1, 1, 1)), (0, (1, 1))), strict=False
        ):
            axes.plot([s["wall_clock"] for s in lines], [100 * s[column] for s in lines], linestyle=style, label=name)
        axes.set(xscale="log", xlabel="seconds (wall-clock)", ylabel=f"{kind}, validation, %", ylim=(0, 101))
        axes.grid(alpha=0.3)
    figure.axes[0].legend(frameon=False)
    figure.suptitle(title)
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", default="addition")
    parser.add_argument("--length", type=int, default=4)
    parser.add_argument("--nesting", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--recipes", nargs="+", default=["laptop"], choices=[name for name in RECIPES if name != PAPER])
    parser.add_argument("--minutes", type=float, help="the same training time for every recipe")
    parser.add_argument("--times", type=float, default=8.0, help="patience with the paper's recipe; 0: leave it out")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()

    def make(name: str) -> Config:
        shared = {"task": asked.task, "length": asked.length, "nesting": asked.nesting, "evaluate_count": 500}
        shared |= {"seed": asked.seed, "data_seed": asked.seed, "threads": asked.threads, "device": "cpu"}
        if asked.minutes and name != PAPER:
            shared["minutes"] = asked.minutes
        return hardware.resolve(make_config(**{**RECIPES[name], **shared}))

    found: dict[str, list[dict[str, Any]]] = {}
    for name in asked.recipes:
        print(name, flush=True)
        found[name] = run(make(name), float("inf"), lambda _: False)
    reached = first(found[asked.recipes[0]], KINDS["teacher-forced"], 0.95)
    if asked.times and reached is None:
        print(f"{asked.recipes[0]} did not reach 95 %, so there is nothing to measure the paper's recipe against")
    elif asked.times and reached is not None:
        limit = asked.times * reached["wall_clock"]
        print(f"{PAPER}, for at most {limit:,.0f} s", flush=True)
        found[PAPER] = run(make(PAPER), limit, lambda line: bool(line["goal_exact_match"] >= 0.99))

    title = f"{asked.task}, length {asked.length}, nesting {asked.nesting}, seed {asked.seed}"
    table(found)
    where = f"{make(asked.recipes[0]).threads} threads, {os.cpu_count()} cores, torch {torch.__version__}"
    print(f"\n{title}; {where}; ratio: the paper's recipe's seconds over this recipe's")
    if asked.out:
        asked.out.mkdir(parents=True, exist_ok=True)
        (asked.out / "rows.json").write_text(json.dumps(found, indent=1) + "\n")
        picture(found, title, asked.out / "time_to_accuracy.png")


if __name__ == "__main__":
    main()
