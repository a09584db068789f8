"""The model store: the models that ship with execlab and those of run folders, loaded when first asked."""

from __future__ import annotations

import json
import os
import threading
import time
from collections import OrderedDict
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from execlab.errors import ExeclabError, unknown
from execlab.evaluation.scorecard import read_scorecard
from execlab.files import open_regular
from execlab.playground import folders
from execlab.playground.schemas import Accuracy, Model
from execlab.tasks import TASKS, make_task
from execlab.training import checkpoints, runs
from execlab.training.config import config_from_dict
from execlab.training.load import load
from execlab.training.report import read_report

if TYPE_CHECKING:
    from execlab.evaluation.scores import Scores
    from execlab.tasks import Task
    from execlab.training.config import Config
    from execlab.training.load import Executor

SHIPPED = Path(__file__).parent / "models"
KEPT = 8  # models in memory
WEIGHTS = 1 << 29  # bytes of a model or checkpoint
COUNTED = 2.0  # seconds that a count of the models is good for


class ModelStore:
    """Models by id."""

    def __init__(self, root: Path | None) -> None:
        self.root = root
        self.loaded: OrderedDict[tuple[str, str], Executor] = OrderedDict()
        self.lock = threading.Lock()
        self.loading: dict[str, threading.Lock] = {}
        self.count = sum(1 for _ in SHIPPED.glob("*.safetensors"))  # of models, when last counted
        self.counted = -COUNTED
        self.counting = threading.Lock()
        self.tasks = list(TASKS)  # and those of the runs, once they have been listed

    def recount(self) -> None:
        """Count the models in the background, if that was not just done; nobody waits for it."""
        if self.root and time.monotonic() - self.counted >= COUNTED and self.counting.acquire(blocking=False):
            threading.Thread(target=self._count, daemon=True).start()

    def _count(self) -> None:
        try:
            self.listed()
        finally:
            self.counting.release()

    def listed(self) -> list[Model]:
        """Every model: those that ship first."""
        runs_here = folders.runs_below(self.root) if self.root else {}
        own = {name: model for name, folder in runs_here.items() if (model := self._of_run(name, folder)) is not None}
        models = [self._shipped(path) for path in SHIPPED.glob("*.safetensors") if path.stem not in own]
        models.sort(key=lambda model: (model.strategy != "combined", model.id))  # a newcomer sees the best models first
        models += own.values()
        self.tasks = list(dict.fromkeys([*TASKS, *(model.task for model in models)]))
        self.count, self.counted = len(models), time.monotonic()
        return models

    def task(self, name: str) -> Task:
        """The task of a name, of execlab or of a model that is here: no client can have anything else imported."""
        if name not in self.tasks:
            raise unknown("task", name, self.tasks)
        return make_task(name, {})

    def get(self, id: str) -> Executor:
        """The model of an id; loads it if nobody has yet. Nothing that a client says becomes a path."""
        path = self._path(id)
        if path is None:
            raise KeyError(id)
        with self.lock:
            own = self.loading.setdefault(id, threading.Lock())
        with own:  # others wait for this model only
            try:
                key = (id, _age(path))
                with self.lock:
                    if key in self.loaded:
                        self.loaded.move_to_end(key)
                        return self.loaded[key]
                for weights in _weights(path):
                    _check_size(weights)
                executor = load(path)
            except folders.BROKEN as error:
                reason = str(error).replace(str(path), id) if isinstance(error, ExeclabError) else "it cannot be read"
                raise ExeclabError(f"the model {id} cannot be loaded: {reason}") from None
            with self.lock:
                for old in [old for old in self.loaded if old[0] == id]:
                    del self.loaded[old]
                self.loaded[key] = executor
                while len(self.loaded) > KEPT:
                    self.loaded.popitem(last=False)
            return executor

    def _path(self, id: str) -> Path | None:
        shipped = next((path for path in SHIPPED.glob("*.safetensors") if path.stem == id), None)
        folder = folders.runs_below(self.root).get(id) if self.root else None
        if folder is None or (shipped and self._of_run(id, folder) is None):
            return shipped
        return folder  # the user's own comes before a shipped model of the same name

    def _shipped(self, path: Path) -> Model:
        about = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        config, version = config_from_dict(about["config"]), about.get("data_version", 1)
        accuracies = _accuracies(read_scorecard(about["test"], path).scores)
        return _described(path.stem, config, about["parameters"], accuracies, version, shipped=True)

    def _of_run(self, id: str, folder: Path) -> Model | None:
        try:
            about = runs.read_about(folder)
            weights = _weights(folder)
            for file in weights:
                _check_size(file)
            if not weights or (weights[0].parent == folder and not _looks_whole(weights[0])):
                return None
            return _described(id, about.config, about.parameters, _tested(folder), about.data_version, shipped=False)
        except folders.BROKEN:
            return None  # the view of runs says what is wrong with it


def _described(
    id: str, config: Config, parameters: int, accuracies: dict[str, Accuracy], data_version: int, *, shipped: bool
) -> Model:
    words = [name for name, value in config.task_options.items() if value is True]
    words += ["scrambled"] if config.scramble is not None else []
    deepest = config.make_task().hardest.nesting
    hard = f"length {config.length}" + f", nesting {config.nesting}" * (deepest > 1)
    return Model(
        id=id,
        name=", ".join([f"{config.task}, {hard}, {config.strategy}", *words, *([] if shipped else [id])]),
        task=config.task,
        length=config.length,
        nesting=config.nesting,
        max_nesting=deepest,
        strategy=config.strategy,
        parameters=parameters,
        layers=int(config.model_options.get("layers") or 1),
        cells=int(config.model_options.get("cells") or 0),
        modification=", ".join(word for word in words if word != "scrambled"),
        scramble=config.scramble,
        accuracies=accuracies,
        data_version=data_version,
        shipped=shipped,
    )


def _tested(folder: Path) -> dict[str, Accuracy]:
    """What a run's report says about the test split, if it can be read: a model can be asked without it."""
    try:
        return _accuracies(read_report(folder / "report.json", folders.RESULTS).test.scores)
    except folders.BROKEN:
        return {}


def _accuracies(scores: Scores) -> dict[str, Accuracy]:
    return {name: Accuracy(**score._asdict()) for name, score in scores._asdict().items()}


def _weights(path: Path) -> list[Path]:
    """The files that hold the weights of a run, or of a model that is one file."""
    if not path.is_dir():
        return [path]
    finished = path / "model.safetensors"
    return [finished] if finished.exists() else checkpoints.listed(path / "checkpoints")


def _check_size(path: Path) -> None:
    """Raise for what is not a regular file that fits into memory."""
    with suppress(FileNotFoundError), open_regular(path) as file:  # a run that is trained drops old checkpoints
        if os.fstat(file.fileno()).st_size > WEIGHTS:
            raise ExeclabError(f"{path} is larger than {WEIGHTS:,} bytes")


def _looks_whole(path: Path) -> bool:
    """Whether a file could be safetensors, by its first eight bytes: the length of its header."""
    with open_regular(path) as file:
        header = int.from_bytes(file.read(8), "little")
        return header <= os.fstat(file.fileno()).st_size - 8


def _age(path: Path) -> str:
    """Changes when the model does: a run that is being trained has newer checkpoints."""
    if path.is_file():
        return ""
    finished = path / "model.safetensors"
    if finished.exists():
        return str(finished.stat().st_mtime_ns)
    return next((file.name for file in checkpoints.listed(path / "checkpoints")), "")
