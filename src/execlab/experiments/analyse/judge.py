"""The verdicts on all claims of the experiments in some rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from execlab.experiments import EXPERIMENTS, known_experiment
from execlab.experiments.analyse.summary import grouped

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from execlab.experiments.analyse.claims import Claim
    from execlab.experiments.analyse.rows import Row


def judge(rows: Sequence[Row], planned: Mapping[str, int] | None = None) -> list[Claim]:
    """Every claim that belongs to the experiments in the rows, judged by the runs with their full budget.

    `planned` says how many such runs each experiment has. While some are missing, there is no verdict.
    """
    by = grouped((row for row in rows if row.budget == "full"), lambda row: row.experiment)
    claims = []
    for name in (*EXPERIMENTS, *(name for name in by if name not in EXPERIMENTS)):
        experiment = known_experiment(name)
        if name not in by or experiment is None:
            continue
        done, whole = len(by[name]), (planned or {}).get(name, 0)
        for rule in experiment.claims:
            claim = replace(rule(by[name]), experiment=name)
            if done < whole:
                evidence = f"{done} of {whole} runs so far: {claim.evidence}"
                claim = replace(claim, verdict="not tested", evidence=evidence)
            claims.append(claim)
    return claims
