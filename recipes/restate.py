"""States the published numbers by the rules of 0.3, in place: python recipes/restate.py

- Intervals of character accuracies are Wilson's with the effective number of characters (evaluation/scores.py). The
  standard error is that of the recorded interval, which was symmetric before 0.3; the number of characters is counted
  on the test samples, which can be drawn again exactly.
- Chance is 1/11 where no minus is printed.
- Free-running accuracy is over the longer of output and target. Models that ship are measured again. Of the others the
  value is known to be the same where every output had the length of its target; elsewhere it stays over the target.

Each entry gets the mark "scoring": 2 if its free-running accuracy is by the rule of 0.3, 1 if it is by the rule before
it. What has the mark is left as it is, so a second run changes nothing. (What was published with 0.2 is of data version
1, whose test samples only that execlab draws; all of it has the mark.)
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from execlab.data.sampling import Source
from execlab.evaluation.evaluate import chance
from execlab.evaluation.scores import SCORING, Z, wilson
from execlab.training.config import config_from_dict
from execlab.training.load import load
from execlab.training.report import final_score

ROOT = Path(__file__).parent.parent
RESULTS, MODELS = ROOT / "results", ROOT / "src" / "execlab" / "playground" / "models"
CHARACTERS = ("teacher_forced_accuracy", "free_running_accuracy")
SHIPPED_ROWS = {("headline", "addition-9x1-combined-2"): "addition-9"}  # rows whose model ships
Found = dict[str, Any]


def interval(old: Found, characters: int) -> Found:
    """The same value with the interval of 0.3."""
    value = old["value"]
    if abs(value * characters - round(value * characters)) > 1e-5:
        raise SystemExit(f"{value} is no share of {characters:,} characters")
    half = value - old["low"] if old["low"] > 0 else old["high"] - value  # one of them may have been cut
    effective = float(characters)
    if 0 < value < 1 and half > 0:  # 0: the same share of every sample is right
        effective = min(effective, value * (1 - value) / (half / Z) ** 2)
    return wilson(value, effective, old["n"])._asdict()


def restate(test: Found, task: str, characters: int, scoring: int) -> Found:
    """Scores of a model that is no longer there; the mark stands before chance, where new reports have it."""
    known = {name: interval(test[name], characters) for name in CHARACTERS} | {"chance": chance(task)}
    restated: Found = {}
    for name, value in test.items():
        if name == "chance":
            restated["scoring"] = scoring
        restated[name] = known.get(name, value)
    return restated


def scoring_of(test: Found) -> int:
    """Whether the rule for free-running accuracy makes a difference: not if every output is as long as its target."""
    kinds = test["kinds_of_error"]
    return 1 if kinds["length of output"] or kinds["sign"] else SCORING


def counted(test: Found) -> int:
    """The characters of the test samples, from the table by position."""
    return sum(place["n"] for place in test["by_position"])


@cache
def drawn(config: str, n: int) -> int:
    """The characters of the test samples, drawn again."""
    of = config_from_dict(json.loads(config))
    source = Source(of.make_task(), of.goal, "test", of.data_seed, scramble=of.scramble, purpose="report")
    return sum(len(row.sample.target) + 1 for row in source.rows(stop=n))


def characters_of(config: Found, n: int) -> int:
    """The same; strategies and training play no part in it, so runs of a setting share one drawing."""
    kept = ("task", "length", "nesting", "dialect", "layout", "invert", "double", "scramble", "data_seed")
    return drawn(json.dumps({name: config[name] for name in kept}), n)


@cache
def measured(name: str) -> Found:
    """The scores of a model that ships, on its own test samples."""
    model = load(MODELS / f"{name}.safetensors")
    return final_score(model.config, model.reader).scorecard().to_json()


def check(name: str, old: Found, new: Found) -> None:
    """What no rule has changed must come out as recorded."""
    for key in ("teacher_forced_accuracy", "exact_match", "most_frequent_character"):
        before, after = ((test[key]["value"] if isinstance(test[key], dict) else test[key]) for test in (old, new))
        if before != after:
            print(f"{name}: {key} was {before}, is {after} on this machine")


def flat(test: Found) -> Found:
    """Scores as columns of a row."""
    return {
        f"{name}{end}": test[name][key]
        for name in (*CHARACTERS, "exact_match")
        for end, key in (("", "value"), ("_low", "low"), ("_high", "high"))
    }


def restate_row(row: Found, config: Found, model: str | None) -> Found:
    """One row of results.jsonl; the mark stands after n."""
    if "scoring" in row:
        return row
    ends = {"value": "", "low": "_low", "high": "_high"}
    test: Found = {
        name: {key: row[name + end] for key, end in ends.items()} | {"n": row["n"]}
        for name in (*CHARACTERS, "exact_match")
    }
    test |= {"chance": row["chance"], "most_frequent_character": row["most_frequent_character"]}
    if model:
        new = measured(model)
        check(row["run"], test, new)
    else:
        scoring = SCORING if row["exact_match"] == 1 else 1
        new = restate(test, row["task"], characters_of(config, row["n"]), scoring)
    known = flat(new) | {"chance": new["chance"]}
    restated: Found = {}
    for name, value in row.items():
        restated[name] = known.get(name, value)
        if name == "n":
            restated["scoring"] = new["scoring"]
    return restated


def restate_rows() -> None:
    """The rows of all experiments."""
    for path in sorted(RESULTS.glob("*/results.jsonl")):
        grid = json.loads((path.parent / "grid.json").read_text())
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        models = [SHIPPED_ROWS.get((path.parent.name, row["run"])) for row in rows]
        rows = [restate_row(row, grid[row["run"]], model) for row, model in zip(rows, models, strict=True)]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def restate_reports() -> None:
    """Single runs: reports, evaluations on the mix distribution, and what is stated of the models that ship."""
    for path in sorted(RESULTS.glob("*/*.json")):
        report = json.loads(path.read_text())
        test = report if path.parent.name == "mix" else report.get("test") if isinstance(report, dict) else None
        if test is None or "scoring" in test or "by_position" not in test:
            continue
        if path.parent.name == "playground":
            new = measured(path.stem)
            check(path.stem, test, new)
        else:
            task = report["task"] if test is report else report["config"]["task"]
            new = restate(test, task, counted(test), scoring_of(test))
        path.write_text(json.dumps(new if test is report else report | {"test": new}, indent=2) + "\n")
    for path in sorted(MODELS.glob("*.json")):
        about = json.loads(path.read_text())
        if "scoring" not in about["test"]:
            new = measured(path.stem)
            check(path.stem, about["test"], new)
            kept = [*CHARACTERS, "exact_match", "scoring", "chance", "most_frequent_character"]
            path.write_text(json.dumps(about | {"test": {name: new[name] for name in kept}}, indent=1) + "\n")


if __name__ == "__main__":
    restate_rows()
    restate_reports()
