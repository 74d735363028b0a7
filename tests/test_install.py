"""The wheel, in an environment of its own: what `pip install paramedic` gives."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from email.parser import Parser
from pathlib import Path
from zipfile import ZipFile

import pytest
import torch
import typer

from workshop import ROOT, TRAIN

EXTRAS = {"all", "audit", "cure", "live", "mcp", "mlflow", "parity", "ray", "shapes", "tensorboard", "trackio", "wandb"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet"]
    subprocess.run([*pip, "--no-deps", "--no-build-isolation", "-w", out, ROOT], check=True)
    (built,) = out.glob("*.whl")
    return built


def test_the_wheel_is_complete(wheel: Path) -> None:
    with ZipFile(wheel) as file:
        names = file.namelist()
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        about = Parser().parsestr(file.read(metadata).decode())
    assert "paramedic.pth" in names and "paramedic/examples/train_digits.py" in names
    source = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src" / "paramedic").rglob("*.py")}
    assert source <= set(names)
    assert not any(name.startswith(("tests", "cases", "benchmarks", "docs")) for name in names)
    assert set(about.get_all("Provides-Extra") or ()) == EXTRAS


def test_it_works_in_a_clean_environment(wheel: Path, tmp_path: Path) -> None:
    place = tmp_path / "venv"
    venv.create(place, with_pip=False, symlinks=True)
    python = place / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python, "install", "--quiet"]
    subprocess.run([*pip, "--no-deps", "--no-index", wheel], check=True)
    (packages,) = place.glob("lib/python*/site-packages")
    # torch and the rest from here: a path in a .pth file is searched last, and .pth files there are not read.
    (packages / "shared.pth").write_text(f"{Path(torch.__file__).parents[1]}\n{Path(typer.__file__).parents[1]}\n")
    (tmp_path / "train.py").write_text(TRAIN + "import paramedic\nprint(paramedic.__file__)\ntrain(12, softmax=True)\n")
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PARAMEDIC", "VIRTUAL"))}

    def paramedic(*words: str) -> subprocess.CompletedProcess[str]:
        line = [place / "bin" / "paramedic", *words]
        return subprocess.run(line, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300, check=False)

    asked = paramedic("--help")
    assert asked.returncode == 0 and "run" in asked.stdout and asked.stderr == ""
    done = paramedic("run", "--fail-on", "error", "train.py")
    assert done.returncode == 1 and "PM502" in done.stderr, done.stderr
    assert done.stdout.startswith(str(packages))
