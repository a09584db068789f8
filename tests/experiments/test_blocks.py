"""Documents that are filled in from rows, and what they say when they are not."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from rows import bare_row

from execlab.errors import ExeclabError
from execlab.experiments import EXPERIMENTS
from execlab.experiments.analyse.judge import judge
from execlab.experiments.analyse.rows import ACCURACIES, Row, read_rows, write_rows
from execlab.experiments.analyse.summary import grouped, setting_of
from execlab.experiments.publish.blocks import MARK, fill
from execlab.training.config import make_config

ROOT = Path(__file__).parent.parent.parent
DOCUMENTS = ("README.md", "docs/results.md")
READING = "combined is above baseline on addition at every length"
GENERALLY = "combined is generally above baseline on addition"


def row(strategy: str, seed: int, accuracy: float, **more: Any) -> Row:
    values: dict[str, Any] = {"experiment": "addition", "scale": "laptop", "strategy": strategy}
    values |= {"length": 2, "nesting": 1, "budget": "full", "seed": seed, "characters": 1_500_000, "n": 2_000}
    values |= {
        "seconds": 60.0,
        "versions": "{}",
        "scrambled": False,
        "most_frequent_character": 0.3,
        "run": f"{strategy}-{seed}",
        "order": "length_first",
    }
    return bare_row(**values | dict.fromkeys(ACCURACIES, accuracy) | more)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    folder = tmp_path / "results"
    (folder / "addition").mkdir(parents=True)
    rows = [row(s, seed, a + 0.01 * seed) for s, a in (("baseline", 0.5), ("combined", 0.9)) for seed in range(3)]
    write_rows(rows, folder / "addition")
    (folder / "empty").mkdir()
    write_rows([], folder / "empty")
    (folder / "readings.json").write_text(
        json.dumps({text: {"seen": "As in the paper."} for text in (READING, GENERALLY)})
    )
    return folder


def filled(results: Path, asked: str) -> str:
    document = results.parent / "document.md"
    document.write_text(f"before\n<!-- execlab: {asked} -->\nstale\n<!-- end -->\nafter\n")
    text = fill(document, results)
    assert text.startswith(f"before\n<!-- execlab: {asked} -->\n")
    assert text.endswith("<!-- end -->\nafter\n")
    assert "stale" not in text
    document.write_text(text)
    assert fill(document, results) == text  # once is enough
    return text


def test_claims_say_number_interval_n_budget_and_reading(results: Path) -> None:
    said = filled(results, "claims addition")
    line = next(line for line in said.splitlines() if line.startswith(f"| {READING} |"))
    assert "**seen**" in line
    assert "length 2 +40.0 (+40.0 to +40.0, n=3)" in line
    assert "1.5 M characters per run" in line
    assert "As in the paper." in line


def test_a_reading_of_another_verdict_is_not_used(results: Path) -> None:
    rows = [row(s, seed, 0.5) for s in ("baseline", "combined") for seed in range(3)]
    write_rows(rows, results / "addition")
    with pytest.raises(ExeclabError, match=r"no sentence for .* being not seen"):
        filled(results, "claims addition")


def test_cells_and_verdicts(results: Path) -> None:
    said = filled(results, "cells addition")
    assert "| Length | baseline | combined | guessing | Seeds | Characters |" in said
    assert "| 2 | 51.0 % (48.5 to 53.5) | 91.0 % (88.5 to 93.5) | 30.0 % | 3 | 1.5 M |" in said
    assert "guessing" not in filled(results, "cells addition exact_match")
    assert "- **Generally** is our weaker form" in filled(results, "rule")
    said = filled(results, "gaps addition")
    assert "| Percentage points: combined minus | baseline |" in said
    assert "| addition | +40.0 (+40.0 to +40.0, n=3), 1 of 1 cells | not all runs are done | not all" in said
    assert f"- **seen** (2): {READING}; {GENERALLY}." in filled(results, "verdicts addition")
    assert "3 seeds, 95 % intervals over seeds" in filled(results, "figure addition addition")
    (results / "addition" / "grid.json").write_text(json.dumps(dict.fromkeys("abcdefgh")))
    assert "| addition | 6 of 8 | 9 M | 0.1 h | not recorded |" in filled(results, "machines addition")
    rows = results / "addition" / "results.jsonl"
    rows.write_text(rows.read_text().replace('"nesting": 1', '"nesting": 2'))
    assert "| Length | Nesting | baseline |" in filled(results, "cells addition")


def test_cells_of_the_climb_leave_out_rows_that_do_not_tell_it(results: Path) -> None:
    write_rows(
        [row("naive", seed, 0.9, climb=share) for seed, share in enumerate((0.4, 0.5, None))], results / "addition"
    )
    assert "| 2 | 45.0 % (0.0 to 100.0) | 2 | 1.5 M |" in filled(results, "cells addition climb")


def test_cells_of_two_precisions_are_told_apart(results: Path) -> None:
    rows = [
        row("combined", seed, 0.9, length=length, precision=precision, run=f"{length}-{seed}")
        for length, precision in ((2, "float32"), (3, "bfloat16"))
        for seed in range(3)
    ]
    write_rows(rows, results / "addition")
    said = filled(results, "cells addition")
    assert "| Seeds | Characters | Products |" in said
    assert "| 3 | 1.5 M | bfloat16 |" in said
    assert "scale laptop, products in bfloat16 (length 3)." in filled(results, "figure addition addition")
    write_rows(rows[3:], results / "addition")
    assert "Products" not in filled(results, "cells addition")
    assert "scale laptop, products in bfloat16." in filled(results, "figure addition addition")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("nonsense", "nonsense"),
        ("claims programs", "holds no results"),
        ("figure addition heat", "heat"),
        ("cells addition luck", "luck"),
        ("cells addition exact_match short", "there are none"),
        ("runs laptop/*", "does not exist"),
        ("runs addition/mix-*", "there are none"),
        ("calibration", "does not exist"),
        ("figure addition", "missing a required argument"),
        ("machines empty", "there are none"),
        ("examples addition x", "whole number"),
    ],
)
def test_what_is_not_there_is_an_error(results: Path, asked: str, said: str) -> None:
    with pytest.raises(ExeclabError, match=said):
        filled(results, asked)


def test_runs_of_an_experiment_are_chosen_by_name(results: Path) -> None:
    more: dict[str, Any] = {"task": "addition", "samples": 5, "precision": "float32"}
    more |= {f"{name}_{end}": 0.5 for name in ACCURACIES for end in ("low", "high")}
    rows = [replace(row, **more) for row in read_rows(results / "addition")]
    write_rows(rows, results / "addition")
    assert filled(results, "runs addition").count("| addition of 2 digits") == 6
    said = filled(results, "runs addition/combined-*")
    assert said.count("| addition of 2 digits, combined |") == 3
    assert "baseline" not in said


def test_beside_what_others_published(results: Path) -> None:
    (results / "mix").mkdir()
    score = {"value": 0.5, "low": 0.4, "high": 0.6, "n": 5000}
    test = {"chance": 0.1, "most_frequent_character": 0.2, **dict.fromkeys(ACCURACIES, score)}
    ours = {"task": "program", "length": 5, "nesting": 2, "seed": 0, **test}
    (results / "mix" / "mine.json").write_text(json.dumps(ours))
    (results / "universal").mkdir()
    counters = {"step": 1, "samples": 2, "characters": 60_000_123, "seconds": 1_201.0}
    trained = {"counters": counters, "test": test, "config": asdict(make_config("smoke"))}
    (results / "universal" / "mine.json").write_text(json.dumps(trained))
    others = [{"task": task, "source": "them", "characters": 0.9, "sequences": 0.6} for task in ("program", "addition")]
    (results / "published.json").write_text(json.dumps(others))
    said = filled(results, "published mine")
    assert said.count("them") == 1  # of this task alone
    assert "| program | execlab, length up to 5, nesting up to 2 | 50.0 % (40.0 to 60.0) | " in said
    assert "| 5,000 | 60 M characters, 20 minutes |" in said


def test_a_block_without_end_eats_nothing(results: Path) -> None:
    document = results.parent / "document.md"
    asked = "<!-- execlab: cells addition -->\n"
    document.write_text(f"{asked}prose that must stay\n{asked}<!-- end -->\n")
    with pytest.raises(ExeclabError, match="has no <!-- end -->"):
        fill(document, results)


def test_the_command_checks_and_fills(results: Path) -> None:
    document = results.parent / "document.md"
    document.write_text("<!-- execlab: cells addition -->\n<!-- end -->\n")
    words = [sys.executable, "-m", "execlab", "report", str(results), "--fill", str(document)]
    checked = subprocess.run([*words, "--check"], capture_output=True, text=True, check=False)
    assert checked.returncode == 1
    assert "says something else" in checked.stderr
    assert not (results / "addition" / "report.html").exists()
    assert subprocess.run(words, capture_output=True, check=False).returncode == 0
    assert (results / "addition" / "figures" / "addition.svg").exists()
    assert "51.0 %" in document.read_text()
    assert subprocess.run([*words, "--check"], capture_output=True, check=False).returncode == 0


def test_every_claim_has_a_reading_before_its_verdict_is_known() -> None:
    row = bare_row(strategy="combined", budget="full", scrambled=False)
    texts = {claim.text for name in EXPERIMENTS for claim in judge([replace(row, experiment=name)])}
    readings = json.loads((ROOT / "results" / "readings.json").read_text())
    assert readings.keys() == texts
    assert all({"seen", "not seen"} <= said.keys() for said in readings.values())


@pytest.mark.parametrize("path", sorted((ROOT / "results").glob("*/results.jsonl")), ids=lambda path: path.parent.name)
def test_what_is_compared_was_run_alike(path: Path) -> None:
    for where, lines in grouped(read_rows(path.parent), setting_of).items():
        assert len({row.precision for row in lines}) == 1, where
        assert len({(row.parameters, row.n) for row in lines}) == 1, where


@pytest.mark.parametrize("name", DOCUMENTS)
def test_our_documents_say_what_the_results_say(name: str) -> None:
    path = ROOT / name
    assert fill(path, ROOT / "results") == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", DOCUMENTS)
def test_no_measured_share_stands_outside_a_block(name: str) -> None:
    """A number that no block wrote cannot be checked; what the paper says and what is fixed by design may stand."""
    text = MARK.sub("", (ROOT / name).read_text(encoding="utf-8"))
    allowed = {"99 %", "95 %", "90 %"}  # the paper's headline; the level of intervals; the rule for budgets
    assert set(re.findall(r"\d[\d.,]* ?%", text)) <= allowed
