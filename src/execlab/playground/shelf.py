"""The models that can be asked: those that ship with execlab, and those of run folders; loaded when first asked."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from execlab.errors import ExeclabError
from execlab.evaluation.scores import Scores
from execlab.playground import folders
from execlab.playground.schemas import Accuracy, Model
from execlab.training import checkpoints, runs
from execlab.training.config import Config
from execlab.training.load import load

if TYPE_CHECKING:
    from execlab.training.load import Executor

SHIPPED = Path(__file__).parent / "models"
KEPT = 8  # models in memory


class Shelf:
    """Models by id."""

    def __init__(self, root: Path | None) -> None:
        self.root = root
        self.loaded: OrderedDict[tuple[str, str], Executor] = OrderedDict()
        self.lock = threading.Lock()
        self.loading: dict[str, threading.Lock] = {}

    def listed(self) -> list[Model]:
        """Every model: those that ship first."""
        runs_here = folders.runs_below(self.root) if self.root else {}
        own = {name: one for name, folder in runs_here.items() if (one := self._of_run(name, folder)) is not None}
        found = [self._shipped(path) for path in SHIPPED.glob("*.safetensors") if path.stem not in own]
        found.sort(key=lambda model: (model.strategy != "combined", model.id))  # a newcomer meets the best ones first
        return found + list(own.values())

    def get(self, id: str) -> Executor:
        """The model of an id; loads it if nobody has yet. Nothing that a client says becomes a path."""
        path = self._path(id)
        if path is None:
            raise KeyError(id)
        with self.lock:
            own = self.loading.setdefault(id, threading.Lock())
        with own:  # others wait for this model only
            key = (id, _age(path))
            with self.lock:
                if key in self.loaded:
                    self.loaded.move_to_end(key)
                    return self.loaded[key]
            try:
                found = load(path)
            except folders.BROKEN as error:
                told = str(error).replace(str(path), id) if isinstance(error, ExeclabError) else "it cannot be read"
                raise ExeclabError(f"the model {id} cannot be loaded: {told}") from None
            with self.lock:
                for old in [old for old in self.loaded if old[0] == id]:
                    del self.loaded[old]
                self.loaded[key] = found
                while len(self.loaded) > KEPT:
                    self.loaded.popitem(last=False)
            return found

    def _path(self, id: str) -> Path | None:
        shipped = next((path for path in SHIPPED.glob("*.safetensors") if path.stem == id), None)
        folder = folders.runs_below(self.root).get(id) if self.root else None
        if folder is None or (shipped and self._of_run(id, folder) is None):
            return shipped
        return folder  # one's own before one that ships with the same name

    def _shipped(self, path: Path) -> Model:
        about = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        return _described(path.stem, Config(**about["config"]), about["parameters"], about["test"], shipped=True)

    def _of_run(self, id: str, folder: Path) -> Model | None:
        try:
            about = runs.read_about(folder)
            config = runs.config_from(about, folder)
            finished = folder / "model.safetensors"
            if not (_looks_whole(finished) if finished.exists() else checkpoints.listed(folder / "checkpoints")):
                return None
            report = folder / "report.json"
            test = json.loads(report.read_text(encoding="utf-8")).get("test", {}) if report.exists() else {}
            return _described(id, config, int(about.get("parameters") or 0), test, shipped=False)
        except folders.BROKEN:
            return None  # the view of runs says what is wrong with it


def _described(id: str, config: Config, parameters: int, test: dict[str, Any], *, shipped: bool) -> Model:
    words = [word for word in ("invert", "double") if getattr(config, word)]
    words += ["scrambled"] if config.scramble is not None else []
    hard = f"length {config.length}" + (f", nesting {config.nesting}" if config.task == "program" else "")
    return Model(
        id=id,
        name=", ".join([f"{config.task}, {hard}, {config.strategy}", *words, *([] if shipped else [id])]),
        task=config.task,
        length=config.length,
        nesting=config.nesting,
        strategy=config.strategy,
        parameters=parameters,
        layers=config.layers,
        cells=config.cells,
        modification=", ".join(word for word in words if word != "scrambled"),
        scramble=config.scramble,
        accuracies={name: Accuracy(**test[name]) for name in Scores._fields if name in test},
        shipped=shipped,
    )


def _looks_whole(path: Path) -> bool:
    """Whether a file could be safetensors, by its first eight bytes: the length of its header."""
    with path.open("rb") as file:
        header = int.from_bytes(file.read(8), "little")
    return header <= path.stat().st_size - 8


def _age(path: Path) -> str:
    """Changes when the model does: a run that is being trained has newer checkpoints."""
    if path.is_file():
        return ""
    finished = path / "model.safetensors"
    if finished.exists():
        return str(finished.stat().st_mtime_ns)
    return next((one.name for one in checkpoints.listed(path / "checkpoints")), "")
