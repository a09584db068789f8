"""What the bits of a run depend on besides its Config: device, precision, kernel, threads, versions and commit."""

from __future__ import annotations

import ctypes
import os
import platform
import re
import shutil
import subprocess
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from execlab.errors import ExeclabError
from execlab.models import make_options, model_class, native
from execlab.randomness import stream

if TYPE_CHECKING:
    from execlab.training.config import Config, Kernel
    from execlab.training.runs import About

GIT_TIME = 20.0  # seconds
THREADS = torch.get_num_threads()  # before a run has set them for itself


def versions(config: Config) -> dict[str, str]:
    """What the bits of a run depend on besides its Config."""
    known = {"python": platform.python_version(), "machine": platform.machine(), "processor": processor()}
    if config.kernel == "native":
        kernel = _find_kernel(config)
        known["kernel"] = kernel.name if isinstance(kernel, native.Native) else f"torch: {kernel}"
        if config.precision == "bfloat16" and isinstance(kernel, native.Native):
            known["kernel"] += ", bfloat16 in hardware" if kernel.halves else ", bfloat16 by floats"
    for package in ("execlab", "torch", "numpy"):
        try:
            known[package] = version(package)
        except PackageNotFoundError:
            known[package] = "unknown"
    return known


def processor() -> str:
    """This machine's processor by name."""
    cores = f"{os.cpu_count()} cores"
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return f"{line.partition(':')[2].strip()}, {cores}"
    return f"{platform.processor() or platform.machine()}, {cores}"


def commit() -> str | None:
    """The commit of the checkout of execlab that this code runs from, if it does; "-dirty" if the code differs.

    A copy that is installed below another project's checkout has no commit: that one's would say nothing about it, and
    asking git there would run what its configuration names.
    """
    checkout, git = _checkout(), shutil.which("git")
    if checkout is None or git is None:
        return None
    name = _git(git, checkout, "describe", "--always", "--abbrev=12", "--exclude=*")
    changed = name and _git(git, checkout, "status", "--porcelain", "--", "src")  # results are not the code
    return f"{name}-dirty" if changed else name or None


def _checkout() -> Path | None:
    package = Path(__file__).resolve().parent.parent
    checkout = package.parent.parent
    if package != checkout / "src" / "execlab" or not (checkout / ".git").exists():
        return None
    try:
        about = (checkout / "pyproject.toml").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return checkout if re.search(r'^name = "execlab"$', about, re.MULTILINE) else None


def _git(git: str, checkout: Path, *words: str) -> str:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = [git, "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-C", str(checkout), *words]
    try:
        done = subprocess.run(  # noqa: S603 - git, in a checkout of execlab
            command,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=GIT_TIME,
            env={**kept, "GIT_OPTIONAL_LOCKS": "0", "GIT_CEILING_DIRECTORIES": str(checkout.parent)},
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def differences(about: About, config: Config) -> list[str]:
    """A sentence for each way in which this machine or code differs from the one that began a run."""
    sentences = []
    if about.versions != versions(config):
        sentences.append(
            "library versions, compiler or machine differ from those of the run, so the bits may differ too"
        )
    if about.commit != (here := commit()):
        before = (about.commit or "no commit")[:60]
        sentences.append(f"the run was begun by {before} of execlab, and this is {here or 'no commit'}")
    return sentences


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
    threads = config.threads or THREADS
    return replace(config, device=device, precision=precision, kernel=kernel, threads=threads)


def multiplies_bfloat16() -> bool:
    """Whether this CPU has instructions for bfloat16 matmuls (without them PyTorch is slow at them)."""
    probes = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
    return any(bool(getattr(torch.cpu, probe, bool)()) for probe in probes)


def _find_kernel(config: Config) -> native.Native | str:
    return model_class(config.model).find_kernel(make_options(config.model, config.model_options))


def _kernel(config: Config, device: str) -> Kernel:
    """Which code computes the recurrence while learning."""
    if config.kernel == "torch" or device != "cpu":
        reason: object = "it is for learning on a CPU"
    else:
        reason = _find_kernel(config)
    if isinstance(reason, native.Native):
        return "native"
    if config.kernel == "native":
        raise ExeclabError(f"kernel=native is not available here: {reason}")
    return "torch"


def claim(config: Config) -> torch.device:
    """The device and the threads of a resolved Config, or a sentence why they are not available."""
    try:
        device = torch.device(config.device)
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError):
        raise ExeclabError(
            f"the device {config.device!r} is not available on this machine; choose cpu, cuda, mps or auto"
        ) from None
    if config.kernel == "native":  # it has threads of its own, and what is left to PyTorch is small
        torch.set_num_threads(1)
        _keep_memory()
        return device
    torch.set_num_threads(config.threads)
    if torch.get_num_threads() != config.threads:
        raise ExeclabError(f"{config.threads} threads are not available here; PyTorch gives {torch.get_num_threads()}")
    return device


def seed_chance(device: torch.device, *key: int | str) -> None:
    """Seed PyTorch's own random numbers by a key: a model with dropout resumes to the same bits, too."""
    number = stream(*key).getrandbits(63)
    torch.default_generator.manual_seed(number)  # torch.manual_seed takes a hundred times as long
    if device.type in ("cuda", "mps"):
        getattr(torch, device.type).manual_seed(number)


def _keep_memory() -> None:
    """Let freed memory stay in this process: asking the system for it again costs a twentieth of a step."""
    if platform.libc_ver()[0] == "glibc":
        for setting, size in ((-1, 1 << 30), (-3, 1 << 25)):  # M_TRIM_THRESHOLD; M_MMAP_THRESHOLD, at its largest
            ctypes.CDLL(None).mallopt(setting, size)
