"""A network as a Hugging Face folder: the same answers there and back, and nothing loaded that is unsafe."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from execlab.errors import ExeclabError

pytest.importorskip("torch", reason="PyTorch is not installed")

MODEL = Path(__file__).parents[2] / "src/execlab/playground/models/addition-4-baseline.safetensors"


def test_there_and_back(tmp_path: Path) -> None:
    from execlab.integrations.hugging_face import from_pretrained, save_pretrained
    from execlab.training.load import load

    folder = save_pretrained(MODEL, tmp_path / "model")
    assert {path.name for path in folder.iterdir()} == {"model.safetensors", "config.json", "README.md"}
    before, after = load(MODEL), from_pretrained(folder)
    assert after.config == before.config
    for text in ("print(1234+4321)", "print(9999+9999)"):
        assert after.predict(text) == before.predict(text)
    card = (folder / "README.md").read_text()
    assert card.startswith("---\nlibrary_name: execlab\n")
    about = json.loads(MODEL.with_suffix(".json").read_text())
    assert f"{about['test']['exact_match']['value']:.2%}" in card
    with pytest.raises(ExeclabError, match="exists already"):
        save_pretrained(MODEL, folder)


def test_what_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from execlab.integrations.hugging_face import from_pretrained

    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ExeclabError, match=r"no model\.safetensors"):
        from_pretrained(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"\x80\x04pickle")
    with pytest.raises(ExeclabError):
        from_pretrained(tmp_path)
    with pytest.raises(ExeclabError, match="there is no folder"):
        from_pretrained("../no such/model")
