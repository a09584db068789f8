"""The grids: plain data that can be read and counted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rows import bare_row

from execlab.cli.experiments import SCALES as NAMED_SCALES
from execlab.cli.experiments import reproduce as command
from execlab.errors import ExeclabError
from execlab.experiments import EXPERIMENTS, SCALES, addition, make_grid, memorization, programs
from execlab.experiments.analyse.rows import write_rows
from execlab.experiments.analyse.summary import grouped
from execlab.experiments.memorization import MODIFICATIONS
from execlab.experiments.run.cost import characters, scored_at
from execlab.experiments.run.reproduce import settle
from execlab.experiments.run.work import work
from execlab.training.config import PRESETS, make_config
from execlab.training.weights import sketch


def test_the_command_knows_every_grid() -> None:
    assert all(name in str(command.help) for name in EXPERIMENTS)
    assert SCALES == NAMED_SCALES


@pytest.mark.parametrize("experiment", EXPERIMENTS)
@pytest.mark.parametrize("scale", SCALES)
def test_names_are_unique_and_compute_is_equal_within_a_cell(experiment: str, scale: str) -> None:
    grid = make_grid(experiment, scale, seeds=2)
    assert len({planned.name for planned in grid}) == len(grid)
    assert all(planned.config.threads == 1 for planned in grid)
    cells = grouped(
        [{"planned": planned} for planned in grid],
        lambda line: (
            line["planned"].config.goal,
            line["planned"].config.make_task().modification,
            line["planned"].config.scramble,
            line["planned"].budget,
        ),
    )
    for lines in cells.values():
        configs = [line["planned"].config for line in lines]
        limits = {(c.steps, c.samples, c.characters, c.epochs, c.model_options, c.batch) for c in configs}
        assert len(limits) == 1


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_a_grid_has_one_precision(experiment: str) -> None:
    assert {planned.config.precision for planned in make_grid(experiment, "laptop")} == {"float32"}
    asked = make_grid(experiment, "laptop", precision="bfloat16")
    assert {planned.config.precision for planned in asked} == {"bfloat16"}


def test_runs_of_one_difficulty_have_one_precision(tmp_path: Path) -> None:
    """Whatever the machine does well that goes on with them."""
    asked = make_grid("statistics", "smoke", precision="auto")
    (here,) = {planned.config.precision for planned in settle(asked, [tmp_path])}
    other = {"float32": "bfloat16", "bfloat16": "float32"}[here]
    done, begun = tmp_path / "done", tmp_path / "begun"
    done.mkdir()
    write_rows([bare_row(run="one", length=2, nesting=1, precision=other)], done)
    work(begun / "runs" / "one", make_config("smoke", task="program", length=2, steps=1, precision=other))
    harder = make_grid("orders", "smoke", precision="auto")
    for folders in ([done], [begun], [tmp_path, done]):
        assert {planned.config.precision for planned in settle(asked, folders)} == {other}
        assert {planned.config.precision for planned in settle(harder, folders)} == {here}
    said = make_grid("statistics", "smoke", precision=here)
    assert settle(said, [done]) == said  # what is said outright is not `auto`


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_smoke_is_small(experiment: str) -> None:
    assert len(make_grid(experiment, "smoke")) <= 8


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_paper_is_the_paper_to_the_letter(experiment: str) -> None:
    for _, config, _ in make_grid(experiment, "paper", seeds=1):
        paper = PRESETS["paper"]
        for name in ("model_options", "batch", "window", "feed", "optimizer", "learning_rate", "schedule", "clip"):
            assert getattr(config, name) == getattr(paper, name)


def test_memorization_has_every_modification_and_both_budgets() -> None:
    grid = make_grid("memorization", "laptop", seeds=1)
    assert {planned.config.make_task().modification for planned in grid} == set(MODIFICATIONS)
    long = [planned.config.characters for planned in grid if planned.budget == "full"]
    short = [planned.config.characters for planned in grid if planned.budget == "short"]
    assert [found // 4 for found in long if found] == short
    paper = make_grid("memorization", "paper", seeds=1)
    assert {planned.config.epochs for planned in paper} == {0, 20}


def test_laptop_budgets_are_those_that_were_measured() -> None:
    tables = {"addition": addition.SETTINGS, "memorization": memorization.SETTINGS, "program": programs.SETTINGS}
    measured = json.loads((Path(__file__).parents[2] / "results" / "calibration.json").read_text())
    assert measured
    for line in measured:
        cells = tables[line["task"]]["laptop"]
        if line["characters"] and (line["length"], line["nesting"]) in cells:
            budget = cells[line["length"], line["nesting"]]
            assert budget == pytest.approx(1.5 * line["characters"], rel=0.01)


def test_unknown_names_list_the_known_ones() -> None:
    with pytest.raises(ExeclabError, match="programs"):
        make_grid("fractions", "smoke")
    with pytest.raises(ExeclabError, match="laptop"):
        make_grid("addition", "huge")


def test_characters_of_every_kind_of_limit() -> None:
    assert characters(make_config("laptop", characters=1_000)) == 1_000
    by_samples = characters(make_config("laptop", task="addition", length=3, samples=1_000))
    assert by_samples == 1_000 * 19  # print(123+456). and 579. or 1579.
    by_epochs = characters(make_config("paper", task="memorization", length=5, epochs=1))
    assert by_epochs == 500_000 * 12
    baseline = characters(make_config("paper", task="addition", length=3, strategy="baseline"))
    combined = characters(make_config("paper", task="addition", length=3, strategy="combined"))
    assert combined - baseline == 2 * 10 * 100 * 100 * 50  # two stairs, ten evaluations each


def test_an_evaluation_scores_what_the_strategy_asks_for() -> None:
    def scored(strategy: str, **options: str) -> int:
        return scored_at(make_config("smoke", length=4, strategy=strategy, **options))

    assert [scored("baseline"), scored("combined"), scored("window")] == [1, 2, 1]
    assert scored("window", scored_on="validation") == 4


def test_operations_per_character() -> None:
    assert sketch(PRESETS["paper"]).flops_per_character() == 6 * 3 * 4 * 400 * 400
