"""`paramedic demo`: the main job on a small broken script, in one command."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated

import typer

from paramedic.errors import ParamedicError
from paramedic.paths import check_folder, kind_of


def add_to(app: typer.Typer) -> None:
    app.command("demo", rich_help_panel="Any time")(demo)


def demo(
    folder: Annotated[Path, typer.Argument(help="Where to put the script and the report.")] = Path("paramedic-demo"),
) -> None:
    """Write a small broken training script, run it under paramedic, and write the report.

    Example:

      paramedic demo
    """
    check_folder(folder, fix="paramedic demo some-other-folder")
    script = folder / "train_digits.py"
    for path in (script, folder / "report.html"):
        if kind_of(path) not in (None, "file"):
            raise ParamedicError(
                f"{path} is in the way", expected="a file or nothing there", fix="paramedic demo some-other-folder"
            )
    folder.mkdir(parents=True, exist_ok=True)
    with as_file(files("paramedic") / "examples" / "train_digits.py") as source:
        if script.exists() and script.read_bytes() != source.read_bytes():
            raise ParamedicError(
                f"{script} already exists and was not written by paramedic",
                expected="a folder without a train_digits.py",
                fix="paramedic demo some-other-folder",
            )
        shutil.copyfile(source, script)
    print(f"$ paramedic run --html report.html {script.name}    (in {folder})\n", flush=True)
    done = subprocess.run(
        [sys.executable, "-m", "paramedic", "run", "--html", "report.html", script.name], cwd=folder, check=False
    )
    print(f"\nThe report is {folder / 'report.html'}; the script is {script}. Repair it and run it again.")
    raise typer.Exit(done.returncode)
