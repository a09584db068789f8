"""inspect-ai, by its entry point, over the protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

inspect_ai = pytest.importorskip("inspect_ai", reason="inspect-ai is not installed; make test-integrations")

if TYPE_CHECKING:
    from pathlib import Path


def evaluated(endpoint: str, task: str, model: str, folder: Path, **options: Any) -> dict[str, float]:
    (log,) = inspect_ai.eval(
        task,
        task_args=options,
        model=f"openai-api/local/{model}",
        model_base_url=endpoint,
        display="none",
        log_dir=str(folder),
        max_connections=8,
    )
    assert log.status == "success", log.error
    return {name: metric.value for score in log.results.scores for name, metric in score.metrics.items()}


@pytest.mark.parametrize(("model", "accuracy"), [("oracle", 1.0), ("off-by-one", 0.0)])
def test_the_oracle_is_right_in_every_group(endpoint: str, model: str, accuracy: float, tmp_path: Path) -> None:
    found = evaluated(endpoint, "execlab/program", model, tmp_path, length="3..4", nesting="1..2", count=50)
    assert found["accuracy"] == accuracy
    assert {found[name] for name in ("1", "2", "3", "4")} == {accuracy}


def test_a_network_has_its_true_accuracy(endpoint: str, true_accuracy: float, tmp_path: Path) -> None:
    found = evaluated(endpoint, "execlab/addition", "addition-4-baseline", tmp_path, length=4, count=200)
    assert found["accuracy"] == pytest.approx(true_accuracy, abs=1e-12)
    assert 0 < true_accuracy < 1
