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


class Clean:
    """An environment of its own, in which the wheel is installed."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        self.folder, place = folder, folder / "venv"
        venv.create(place, with_pip=False, symlinks=True)
        self.command = place / "bin" / "paramedic"
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", place / "bin" / "python"]
        subprocess.run([*pip, "install", "--quiet", "--no-deps", "--no-index", wheel], check=True)
        (self.packages,) = place.glob("lib/python*/site-packages")
        # torch and the rest from here: a path in a .pth file is searched last, and .pth files there are not read.
        here = f"{Path(torch.__file__).parents[1]}\n{Path(typer.__file__).parents[1]}\n"
        (self.packages / "shared.pth").write_text(here)
        (folder / "train.py").write_text(
            TRAIN + "import paramedic\nprint(paramedic.__file__)\ntrain(12, softmax=True)\n"
        )

    def hide(self, *packages: str) -> None:
        """As if these were not installed."""
        (self.packages / "hidden.pth").write_text(f"import sys; sys.modules.update(dict.fromkeys({packages!r}))\n")

    def paramedic(self, *words: str) -> subprocess.CompletedProcess[str]:
        ours = ("PYTHON", "PARAMEDIC", "VIRTUAL")
        env = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        line = [self.command, *words]
        return subprocess.run(line, cwd=self.folder, env=env, capture_output=True, text=True, timeout=300, check=False)


def test_it_works_in_a_clean_environment(wheel: Path, tmp_path: Path) -> None:
    clean = Clean(tmp_path, wheel)
    asked = clean.paramedic("--help")
    assert asked.returncode == 0 and "run" in asked.stdout and asked.stderr == ""
    done = clean.paramedic("run", "--fail-on", "error", "train.py")
    assert done.returncode == 1 and "PM502" in done.stderr, done.stderr
    assert done.stdout.startswith(str(clean.packages))


NEEDS = {  # command lines and the extra that each of them needs
    "cure train.py": "cure",
    "serve": "live",
    "run --live train.py": "live",
    "mcp": "mcp",
    "export out --to mlflow": "mlflow",
    "export out --to trackio": "trackio",
    "export out --to wandb": "wandb",
    "compare model.onnx model.onnx --input 2,3": "parity",
    "compare a.safetensors b.safetensors": "parity",
    "diagnose --on ray train.py": "ray",
    "audit train.csv --on ray": "ray",
    "shapes --annotate train.py": "shapes",
    "run --tensorboard tb train.py": "tensorboard",
}
OPTIONAL = (
    *("datasets", "libcst", "starlette", "uvicorn", "mcp", "mlflow", "onnx", "onnxruntime", "keras", "safetensors"),
    *("ray", "tensorboard", "trackio", "wandb"),
)


def test_what_is_missing_is_named_with_its_extra(wheel: Path, tmp_path: Path) -> None:
    clean = Clean(tmp_path, wheel)
    clean.hide(*OPTIONAL)
    for name in ("model.onnx", "a.safetensors", "b.safetensors"):
        (tmp_path / name).write_bytes(b"x")
    rows = [f"{i % 7},{i % 5},{'ab'[i % 2]}" for i in range(60)]
    (tmp_path / "train.csv").write_text("\n".join(["one,two,kind", *rows]))
    plain = clean.paramedic("audit", "train.csv")
    assert plain.returncode in (0, 1) and "Verdict" in plain.stdout + plain.stderr, plain.stderr
    assert clean.paramedic("check", "train.py").returncode == 1
    for line, extra in NEEDS.items():
        done = clean.paramedic(*line.split())
        assert done.returncode == 2 and f"paramedic[{extra}]" in done.stderr, f"{line}: {done.stderr}"
    assert {*NEEDS.values(), "audit", "all"} == EXTRAS  # `audit` is for objects of a package that is there then
