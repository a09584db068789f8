"""An experiment of the paper from its list of runs to its report."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from execlab.data.sampling import Source
from execlab.errors import ExeclabError
from execlab.evaluation.decoding import answer
from execlab.experiments import find_experiment, make_grid
from execlab.experiments.analyse.rows import check_same_data, read_json, read_rows, recorded, write_rows
from execlab.experiments.publish.page import write_page
from execlab.experiments.run.collect import collect, relabelled
from execlab.experiments.run.cost import workers_here
from execlab.experiments.run.display import Watch
from execlab.experiments.run.engine import LocalEngine, run_grid
from execlab.experiments.run.processes import is_finished
from execlab.experiments.run.work import read_recorded, write_grid
from execlab.files import write_atomically
from execlab.registry import is_path, trust
from execlab.tasks.task import Difficulty
from execlab.training import hardware, loop, runs, weights
from execlab.training.locking import lock

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execlab.experiments import Planned
    from execlab.experiments.analyse.rows import Row
    from execlab.experiments.run.display import GridProgress
    from execlab.experiments.run.engine import Engine
    from execlab.training.config import Config

EXAMPLES = 6  # per setting
SEPARATE = "the two do not belong in one grid: choose another folder (`execlab report` still draws it)"


def reproduce(
    experiment: str,
    scale: str,
    grid: Sequence[Planned],
    folder: Path,
    engine: Engine,
    watch: Watch,
    others: Sequence[Path] = (),
) -> GridProgress:
    """Run what is not finished yet, with a row for every run that ends, then draw figures and page.

    A run that has a row in one of the `others` is not done again: the same Config is the same run. One process at a
    time works on a grid.
    """
    with lock(folder):
        return _reproduce(experiment, scale, grid, folder, engine, watch, others)


def run_experiment(
    experiment: str,
    folder: str | Path,
    scale: str = "laptop",
    *,
    seeds: int | None = None,
    workers: int | None = None,
) -> list[Row]:
    """Run an experiment's grid on this machine and write its report; returns a row per run.

    Naming an import path here is consent to import it. Called again, it goes on where it stopped.
    """
    if is_path(experiment):
        trust(experiment)
    folder = Path(folder)
    grid = make_grid(experiment, scale, seeds)
    engine = LocalEngine(folder, min(workers or workers_here(), len(grid)))
    progress = reproduce(experiment, scale, grid, folder, engine, Watch())
    for name, reason in progress.failed.items():
        raise ExeclabError(f"the run {name} failed: {reason}")
    return read_rows(folder)


def _reproduce(
    experiment: str,
    scale: str,
    grid: Sequence[Planned],
    folder: Path,
    engine: Engine,
    watch: Watch,
    others: Sequence[Path],
) -> GridProgress:
    known = find_experiment(experiment)
    prints = known.prints_examples
    if others and prints:
        raise ExeclabError(f"{experiment} prints outputs of its models, and a row has no model; leave out --rows-of")
    check_same_data(recorded(folder).values(), folder, SEPARATE)
    for row in recorded(folder).values():
        if (row.experiment, row.scale) != (experiment, scale):
            other = f"{row.experiment} at scale {row.scale}"
            raise ExeclabError(f"{folder} holds the results of {other}; choose another folder")

    _drop_unlisted(grid, folder, watch)
    if others:
        watch.say(f"rows taken over from elsewhere: {borrow(experiment, scale, grid, folder, others)}")

    def record() -> None:
        write_rows(collect(experiment, scale, grid, folder), folder)
        if prints:
            first = [planned for planned in grid if planned.config.seed == 0]
            write_examples(first, folder, known.strategies)

    progress = run_grid(grid, folder, engine, watch, record=record)
    record()
    write_page(folder)
    return progress


def _drop_unlisted(grid: Sequence[Planned], folder: Path, watch: Watch) -> None:
    """Drop rows whose run grid.json does not list: which run it was is unknown, so those of the grid run again."""
    rows = recorded(folder)
    unlisted = rows.keys() - read_recorded(folder, [], rows).keys()
    again = unlisted & {planned.name for planned in grid}
    for name in sorted(unlisted):
        now = "it is run again" if name in again else "its row stays as it is"
        watch.say(f"results.jsonl has a row of {name}, which grid.json does not list; {now}")
    if again:
        write_rows([line for name, line in rows.items() if name not in again], folder)


def settle(grid: Sequence[Planned], folders: Sequence[Path]) -> list[Planned]:
    """The grid with `auto` resolved: all runs of a difficulty have one precision, so that they can be compared.

    It is that of the runs that were done or begun in one of the folders, wherever that was; of the first run of a
    difficulty it is what this machine does well.
    """
    if all(planned.config.precision != "auto" for planned in grid):
        return list(grid)
    known: dict[Difficulty, Any] = {}
    for folder in folders:
        for row in recorded(folder).values():
            known.setdefault(Difficulty(row.length, row.nesting), row.precision)
        for about in sorted(folder.glob("runs/*/config.json")):
            begun = runs.read_about(about.parent).config
            known.setdefault(begun.goal, begun.precision)
    here = hardware.resolve(grid[0].config).precision
    return [
        planned._replace(config=replace(planned.config, precision=known.get(planned.config.goal, here)))
        for planned in grid
    ]


def elsewhere(others: Sequence[Path]) -> dict[Config, Row]:
    """The rows in other folders by the Config of their run."""
    known: dict[Config, Row] = {}
    for other in others:
        rows = {row.run: row for row in read_rows(other)}
        check_same_data(rows.values(), other, SEPARATE)
        known |= {planned.config: rows[name] for name, planned in read_recorded(other, [], rows).items()}
    return known


def borrow(experiment: str, scale: str, grid: Sequence[Planned], folder: Path, others: Sequence[Path]) -> int:
    """Take over rows of the grid's runs from other folders, whatever a run is called there; gives how many."""
    rows, known = recorded(folder), elsewhere(others)
    before = read_recorded(folder, [], rows)
    taken = [planned for planned in grid if planned.name not in rows and planned.config in known]
    for planned in taken:
        rows[planned.name] = relabelled(known[planned.config], experiment, scale, planned)
        before[planned.name] = planned
    if taken:
        write_grid(folder, before.values())
        write_rows(list(rows.values()), folder)
    return len(taken)


def write_examples(grid: Sequence[Planned], folder: Path, strategies: Sequence[str]) -> None:
    """examples.json: for each setting some test samples, and the output of each strategy's model."""
    path = folder / "examples.json"
    before = read_json(path, [])
    settings: dict[tuple[int, int], dict[str, Any]] = {(entry["length"], entry["nesting"]): entry for entry in before}
    for planned in grid:
        config, run = planned.config, folder / "runs" / planned.name
        where = config.length, config.nesting
        known = settings[where]["examples"][0]["predictions"] if where in settings else {}
        if config.strategy in known or not is_finished(run):
            continue
        model, trained = weights.load_model(run / "model.safetensors")
        source = Source(config.make_task(), config.goal, "test", 0, purpose="examples")
        samples = [row.sample for row in source.rows(stop=EXAMPLES)]
        setting = settings.setdefault(
            where,
            {
                "length": config.length,
                "nesting": config.nesting,
                "examples": [{"input": s.input, "target": s.target, "predictions": {}} for s in samples],
            },
        )
        answers = answer(loop.reader_of(trained, model), samples)
        for example, printed in zip(setting["examples"], answers, strict=True):
            outputs = {**example["predictions"], config.strategy: printed.free_running}
            example["predictions"] = {name: outputs[name] for name in strategies if name in outputs}
    text = json.dumps(list(settings.values()), indent=1)
    write_atomically(path, (text + "\n").encode(), root=folder)
