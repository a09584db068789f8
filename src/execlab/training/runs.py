"""Run folders: what a run is, what it measured, and who may write to it.

runs/add4/
  config.json        the Config, resolved, with library versions and commit
  metrics.jsonl      one line per evaluation
  checkpoints/       the two newest
  model.safetensors  at the end: the weights, with Config and vocabulary in the header
  report.json, report.md, learning_curve.png   at the end
"""

from __future__ import annotations

import errno
import json
import os
import platform
import secrets
import shutil
import subprocess
from contextlib import contextmanager, suppress
from dataclasses import asdict, fields, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from filelock import FileLock, Timeout

from execlab.data.splits import DATA_VERSION
from execlab.data.vocabulary import VOCABULARY
from execlab.errors import ExeclabError
from execlab.models import MODELS, native
from execlab.training.checkpoints import from_bytes, to_bytes, write_atomically
from execlab.training.config import Config

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from execlab.models import LSTM
    from execlab.training.config import Kernel

OURS = {".lock", ".owner"}
NO_LOCKS = {errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP}
FORMAT = 1  # of a run folder; raised when an older execlab could not read it


def versions(config: Config) -> dict[str, str]:
    """What the bits of a run depend on besides its Config."""
    found = {"python": platform.python_version(), "machine": platform.machine(), "processor": processor()}
    if config.kernel == "native":
        kernel = native.usable(config.cells)
        found["kernel"] = kernel.name if isinstance(kernel, native.Native) else f"torch: {kernel}"
        if config.precision == "bfloat16" and isinstance(kernel, native.Native):
            found["kernel"] += ", bfloat16 in hardware" if kernel.halves else ", bfloat16 by floats"
    for package in ("execlab", "torch", "numpy"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "unknown"
    return found


def processor() -> str:
    """This machine's processor by name."""
    cores = f"{os.cpu_count()} cores"
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return f"{line.partition(':')[2].strip()}, {cores}"
    return f"{platform.processor() or platform.machine()}, {cores}"


def commit() -> str | None:
    """The commit of the checkout that this code runs from, if it does; "-dirty" if the code differs from it."""
    git = shutil.which("git")
    if git is None:
        return None

    def said(*words: str) -> str:
        here = str(Path(__file__).parent.parent)
        done = subprocess.run([git, "-C", here, *words], capture_output=True, text=True, check=False)  # noqa: S603 - git
        return done.stdout.strip()

    found = said("describe", "--always", "--abbrev=12")
    changed = found and said("status", "--porcelain", "--", ".")  # other files, rows among them, are not the code
    return f"{found}-dirty" if changed else found or None


def default_folder(config: Config) -> Path:
    """Where a run goes that was given no folder."""
    return Path("runs") / f"{config.task}-{config.length}x{config.nesting}-{config.strategy}-{config.seed}"


def create(folder: Path, config: Config, parameters: int, *, force: bool) -> None:
    """A new run folder with its config."""
    if folder.exists() and not folder.is_dir():
        raise ExeclabError(f"{folder} is a file; choose another name for the run")
    if folder.exists() and any(not _is_passing(path.name) for path in folder.iterdir()):
        if not force:
            raise ExeclabError(
                f"{folder} exists already; resume it with --resume {folder}, or say --force to start anew"
            )
        if not (folder / "config.json").exists():
            raise ExeclabError(f"{folder} is not a run of execlab; --force replaces only runs")
        for name in ("metrics.jsonl", "model.safetensors", "report.json", "report.md", "learning_curve.png"):
            (folder / name).unlink(missing_ok=True)
        shutil.rmtree(folder / "checkpoints", ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    about = {
        "format": FORMAT,
        "config": asdict(config),
        "data_version": DATA_VERSION,
        "parameters": parameters,
        "versions": versions(config),
        "commit": commit(),
    }
    write_atomically(folder / "config.json", (json.dumps(about, indent=2) + "\n").encode())


def _is_passing(name: str) -> bool:
    """What a run that was killed at its very beginning leaves behind."""
    return name in OURS or name.endswith(".partial")


def config_from(about: Any, where: Path) -> Config:
    """The Config in a run's or model's description."""
    if not isinstance(about, dict) or not isinstance(about.get("config"), dict):
        raise ExeclabError(f"{where} holds no configuration of execlab")
    newer = "; it was made by a newer execlab"
    if not isinstance(about.get("format"), int) or about["format"] > FORMAT:
        raise ExeclabError(f"{where} has format {about.get('format')!r}, and this execlab knows {FORMAT}{newer}")
    if strangers := sorted(about["config"].keys() - {field.name for field in fields(Config)}):
        raise ExeclabError(f"{where} has a setting that this execlab does not know: {strangers[0][:40]!r}{newer}")
    if about.get("data_version") != DATA_VERSION:
        raise ExeclabError(f"{where} was made with data version {about.get('data_version')!r}; this is {DATA_VERSION}")
    # A run from before there was a choice.
    return Config(**{"kernel": "torch", **about["config"]})


def read_about(folder: Path) -> dict[str, Any]:
    """config.json as it stands."""
    path = folder / "config.json"
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ExeclabError(f"{folder} is not a run of execlab: it has no config.json") from None
    except (ValueError, RecursionError):
        raise ExeclabError(f"{path} is damaged: it is not JSON") from None
    config_from(about, path)
    found: dict[str, Any] = about
    return found


@contextmanager
def locked(folder: Path) -> Iterator[Callable[[], None]]:
    """This process alone may write; the operating system lets go of the lock when the process ends, however it ends.

    Some shared file systems have no locks between machines. So there is a mark of ownership as well: who comes last
    has it, and the function given here, called before every write, raises once it is another's.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / ".lock", timeout=0, fallback_to_soft=False)
    try:
        lock.acquire()
    except Timeout:
        raise ExeclabError(f"another process is writing to {folder}") from None
    except (OSError, NotImplementedError) as error:
        if isinstance(error, OSError) and error.errno not in NO_LOCKS:
            raise  # anything else than a file system without locks
    mark, path = secrets.token_hex(8), folder / ".owner"

    def check() -> None:
        if path.read_text(encoding="utf-8") != mark:
            raise ExeclabError(f"another process has taken over {folder}; this one stops and writes nothing more")

    try:
        write_atomically(path, mark.encode())
        for stale in (*folder.glob(".*.partial"), *folder.glob("checkpoints/.*.partial")):
            stale.unlink(missing_ok=True)  # of a process that was killed, or that has to stop
        yield check
    finally:
        if lock.is_locked:
            lock.release()


def resolve(config: Config) -> Config:
    """Device, precision, kernel and threads as they will be: what `auto` means is decided once."""
    device = config.device
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    precision, kernel = config.precision, _kernel(config, device)
    if precision == "auto":
        compiled = native.load() if kernel == "native" else None
        hardware = compiled.halves if isinstance(compiled, native.Native) else multiplies_bfloat16()
        precision = "bfloat16" if device == "cpu" and hardware else "float32"
    threads = config.threads or torch.get_num_threads()
    return replace(config, device=device, precision=precision, kernel=kernel, threads=threads)


def multiplies_bfloat16() -> bool:
    """Whether this CPU has instructions for products of bfloat16 (without them PyTorch computes them slowly)."""
    probes = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
    return any(bool(getattr(torch.cpu, probe, bool)()) for probe in probes)


def _kernel(config: Config, device: str) -> Kernel:
    """What does the recurrence while learning."""
    if config.kernel == "torch" or device != "cpu":
        reason: object = "it is for learning on a CPU"
    else:
        reason = native.usable(config.cells)
    if isinstance(reason, native.Native):
        return "native"
    if config.kernel == "native":
        raise ExeclabError(f"kernel=native cannot be had here: {reason}")
    return "torch"


def claim(config: Config) -> torch.device:
    """The device and the threads of a resolved Config, or a sentence why they cannot be had."""
    try:
        device = torch.device(config.device)
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError):
        raise ExeclabError(
            f"the device {config.device!r} cannot be had here; known are cpu, cuda, mps and auto"
        ) from None
    torch.set_num_threads(config.threads)
    if torch.get_num_threads() != config.threads:
        raise ExeclabError(f"{config.threads} threads cannot be had here; torch gives {torch.get_num_threads()}")
    return device


def make_model(config: Config) -> LSTM:
    """The network of a Config, its parameters not yet set."""
    model = MODELS[config.model](len(VOCABULARY), config.layers, config.cells, config.embedding)
    kernel = native.usable(config.cells) if config.kernel == "native" else None
    model.native = kernel if isinstance(kernel, native.Native) else None
    return model


def save_model(folder: Path, config: Config, model: LSTM, check: Callable[[], None] = lambda: None) -> None:
    """The weights, with everything that is needed to use them."""
    about = {"format": FORMAT, "config": asdict(config), "data_version": DATA_VERSION, "vocabulary": VOCABULARY}
    write_atomically(folder / "model.safetensors", to_bytes(model.state_dict(), {"execlab": about}), check)


def load_model(path: Path) -> tuple[LSTM, Config]:
    """A saved model; safe for files of strangers."""
    tensors, about = from_bytes(path.read_bytes())
    described: Any = about.get("execlab")
    config = config_from(described, path)
    if described.get("vocabulary") != VOCABULARY:
        raise ExeclabError(f"{path} was trained on another vocabulary: {str(described.get('vocabulary'))[:60]!r}")
    return filled(config, tensors, path), config


def filled(config: Config, tensors: dict[str, torch.Tensor], where: Path) -> LSTM:
    """The model of a Config with saved weights in it."""
    weights = sum(tensor.numel() for tensor in tensors.values())
    # Before anything is made that large: a stranger's Config may ask for more memory than there is.
    if config.layers * config.cells * (config.cells + 1) + config.embedding > weights:
        raise ExeclabError(f"the weights in {where} are fewer than their Config says")
    model = make_model(config)
    fill(model, tensors, where)
    return model


def fill(model: LSTM, tensors: dict[str, torch.Tensor], where: Path) -> None:
    """Put saved weights into a model."""
    try:
        model.load_state_dict(tensors)
    except (RuntimeError, KeyError, TypeError) as error:
        told = " ".join(str(error).split())[:120]
        raise ExeclabError(f"the weights in {where} do not fit their Config: {told}") from None


def read_metrics(folder: Path) -> list[dict[str, Any]]:
    """The lines of metrics.jsonl; a last line that was cut off is left out."""
    path = folder / "metrics.jsonl"
    lines = []
    if path.exists():
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                lines.append(json.loads(line))
            except ValueError:
                break
    return lines


def write_metrics(folder: Path, lines: list[dict[str, Any]]) -> None:
    """metrics.jsonl with just these lines."""
    write_atomically(folder / "metrics.jsonl", "".join(json.dumps(line) + "\n" for line in lines).encode())


def append_metrics(folder: Path, line: dict[str, Any]) -> None:
    """One more line, in one write."""
    with (folder / "metrics.jsonl").open("ab") as file:
        file.write((json.dumps(line) + "\n").encode())
