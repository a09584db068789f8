"""The record of an evaluation: the `test` of a report.json, and the output of `execlab evaluate --json`.

The JSON of an older version may lack the mark `scoring` and the tables.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from execlab.errors import ExeclabError
from execlab.evaluation.mistakes import WorkScore
from execlab.evaluation.scores import Score, Scores

if TYPE_CHECKING:
    from collections.abc import Mapping

_TABLE = "by_"  # before the name of a table


@dataclass(frozen=True)
class Scorecard:
    """The scores of a model on one source of samples."""

    scores: Scores
    chance: float
    most_frequent_character: float
    scoring: int = 1  # see scores.SCORING
    by_position: list[Score] = field(default_factory=list)
    kinds_of_error: dict[str, int] = field(default_factory=dict)
    tables: dict[str, dict[str, Score]] = field(default_factory=dict)  # exact match in groups, by operation for example
    work: WorkScore | None = None  # of a task that shows its work; exact match is of the answer alone

    def to_json(self) -> dict[str, Any]:
        """The scores as JSON."""
        return {
            **{name: score._asdict() for name, score in self.scores._asdict().items()},
            **({} if self.work is None else {"work": _as_json(self.work)}),
            "scoring": self.scoring,
            "chance": self.chance,
            "most_frequent_character": self.most_frequent_character,
            "by_position": [score._asdict() for score in self.by_position],
            "kinds_of_error": self.kinds_of_error,
            **{
                f"{_TABLE}{name}": {group: score._asdict() for group, score in table.items()}
                for name, table in self.tables.items()
            },
        }


@dataclass(frozen=True)
class Evaluated:
    """Which samples a run was scored on, and its scores."""

    run: str
    task: str
    length: int
    nesting: int
    split: str
    strategy: str
    seed: int
    data_version: int
    test: Scorecard

    def to_json(self) -> dict[str, Any]:
        """Everything side by side."""
        return {name: value for name, value in vars(self).items() if name != "test"} | self.test.to_json()


def read_scorecard(values: object, where: object) -> Scorecard:
    """A scorecard from its JSON; raises if a part is missing or has another shape."""
    values = as_object(values, where)
    tables = {
        name.removeprefix(_TABLE): {group: _score(score, where) for group, score in as_object(table, where).items()}
        for name, table in values.items()
        if name.startswith(_TABLE) and name != "by_position"
    }
    kinds, positions = as_object(values.get("kinds_of_error", {}), where), values.get("by_position", [])
    if not isinstance(positions, list):
        raise _odd(where)
    return Scorecard(
        Scores(*(_score(values.get(name), where) for name in Scores._fields)),
        number(values, "chance", where),
        number(values, "most_frequent_character", where),
        int(number({"scoring": 1, **values}, "scoring", where)),
        [_score(position, where) for position in positions],
        {kind: int(number(kinds, kind, where)) for kind in kinds},
        tables,
        _work(values["work"], where) if "work" in values else None,
    )


def _as_json(work: WorkScore) -> dict[str, Any]:
    return {"accuracy": work.accuracy._asdict(), "first_wrong_step": work.first_wrong_step}


def _work(values: object, where: object) -> WorkScore:
    values = as_object(values, where)
    steps = as_object(values.get("first_wrong_step"), where)
    try:
        counts = {int(step): int(number(steps, step, where)) for step in steps}
    except ValueError:
        raise _odd(where) from None
    return WorkScore(_score(values.get("accuracy"), where), counts)


def read_evaluated(values: object, where: object) -> Evaluated:
    """The output of `execlab evaluate --json`."""
    values = as_object(values, where)
    texts = {name: str(values.get(name, "")) for name in ("run", "task", "split", "strategy")}
    values = {"data_version": 1, **values}
    numbers = {name: int(number(values, name, where)) for name in ("length", "nesting", "seed", "data_version")}
    return Evaluated(**texts, **numbers, test=read_scorecard(values, where))  # type: ignore[arg-type]


def as_object(value: object, where: object) -> Mapping[str, Any]:
    """A JSON object, or an error."""
    if not isinstance(value, dict):
        raise _odd(where)
    return value


def number(values: Mapping[str, Any], name: str, where: object) -> float:
    """A number of a JSON object, unchanged."""
    value = values.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ExeclabError(f"{where} has another shape than execlab writes: {name} must be a number")
    return value


def _score(values: object, where: object) -> Score:
    values = as_object(values, where)
    return Score(*(number(values, name, where) for name in Score._fields))  # type: ignore[arg-type]


def _odd(where: object) -> ExeclabError:
    return ExeclabError(f"{where} has another shape than execlab writes")
