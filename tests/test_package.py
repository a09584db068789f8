"""The package from outside: light, complete, and whole when installed from its wheel."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import httpx
import pytest
from serving import get, post, serving

import execlab

ROOT = Path(__file__).parents[1]


def python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_the_core_brings_nothing_heavy() -> None:
    loaded = python(
        "import sys, execlab, execlab.cli; execlab.generate; execlab.create_dataset; execlab.execute;"
        "print(*[m for m in ('torch', 'numpy', 'pyarrow', 'rich', 'datasets') if m in sys.modules])"
    )
    assert loaded.strip() == ""


def test_importing_execlab_imports_next_to_nothing() -> None:
    """The number of modules stands for the time, which a test cannot assert."""
    count = int(python("import sys; before = len(sys.modules); import execlab; print(len(sys.modules) - before)"))
    assert count <= 40


def test_every_public_name_can_be_had() -> None:
    for name in execlab.__all__:
        assert getattr(execlab, name) is not None
    assert dir(execlab) == sorted(execlab.__all__)
    typed = re.findall(r"^    from execlab\S* import (.*)$", Path(execlab.__file__).read_text(), re.MULTILINE)
    assert {name for names in typed for name in names.split(", ")} == set(execlab.__all__) - {"__version__"}
    with pytest.raises(AttributeError, match="no attribute 'teach'"):
        _ = execlab.teach


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
    subprocess.run([*build, str(ROOT)], check=True, capture_output=True)
    (found,) = folder.glob("*.whl")
    return found


def test_the_playground_starts_from_the_wheel(wheel: Path, tmp_path: Path) -> None:
    """Unpacked outside the checkout, with no run of one's own: the models come along."""
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(tmp_path / "unpacked")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "unpacked")}
    with serving(cwd=tmp_path, env=environment) as server:
        assert "<title>execlab playground</title>" in httpx.get(server.url).text
        models = get(server, "/api/models").json()
        assert {model["task"] for model in models} == {"addition", "memorization", "program"}
        said = post(server, "/api/predict", model="addition-4-combined", input="print(1234+4321)")
        assert said.json()["target"] == "5555"


def test_the_wheel_works_alone(wheel: Path, tmp_path: Path) -> None:
    """Built, installed into an empty environment outside the checkout without a network, and used there."""
    with zipfile.ZipFile(wheel) as packed:
        sources = {path.name for path in (ROOT / "src/execlab/models/kernels").iterdir()}
        assert {f"execlab/models/kernels/{name}" for name in sources} <= set(packed.namelist())
        assert "execlab.c" in sources
    wheels = Path(sys.prefix) / "wheels"
    venv.create(tmp_path / "env", with_pip=True)
    inside = tmp_path / "env" / "bin"
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("PIP_", "PYTHON"))}
    install: list[str | Path] = [
        inside / "python",
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-index",
        "--find-links",
        wheels,
        wheel,
    ]
    subprocess.run(install, check=True, capture_output=True, cwd=tmp_path, env=clean)
    sample: list[str | Path] = [
        inside / "execlab",
        "sample",
        "--length",
        "4",
        "--nesting",
        "3",
        "--split",
        "test",
        "--seed",
        "7",
    ]
    done = subprocess.run(sample, check=True, capture_output=True, text=True, cwd=tmp_path, env=clean)
    here = subprocess.run(
        [sys.executable, "-m", "execlab", *map(str, sample[1:])], check=True, capture_output=True, text=True
    )
    assert done.stdout == here.stdout
    listed = subprocess.run(
        [inside / "python", "-m", "pip", "list"], check=True, capture_output=True, text=True, env=clean
    )
    assert "torch" not in listed.stdout
    assert "numpy" not in listed.stdout
    assert execlab.__version__ in listed.stdout


def test_the_readme_shows_what_the_command_prints() -> None:
    block = (ROOT / "README.md").read_text().split("```\n$ execlab ", 1)[1].split("```", 1)[0]
    command, _, shown = block.partition("\n")
    done = subprocess.run(
        [sys.executable, "-m", "execlab", *command.split()], check=True, capture_output=True, text=True
    )
    assert done.stdout.strip() == shown.strip()


@pytest.mark.parametrize("words", [["train"], ["reproduce", "addition"], ["report", "."], ["serve"]])
def test_without_pytorch_a_sentence(words: list[str]) -> None:
    """As if nothing but the core were installed."""
    code = "import sys; sys.modules['torch'] = None; sys.argv[0] = 'execlab'; from execlab.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "this command needs PyTorch" in done.stderr
    assert "Traceback" not in done.stderr
