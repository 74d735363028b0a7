"""`paramedic bundle`: ask a run for the step it is in, as one file."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from paramedic import voice
from paramedic.cli.options import Runs
from paramedic.cli.report import find_run
from paramedic.config import load_config
from paramedic.errors import ParamedicError
from paramedic.paths import open_private
from paramedic.record.reader import reading

REQUEST = "bundle.request"  # as capture/inquest/alarm.py knows it


def add_to(app: typer.Typer) -> None:
    app.command("bundle", rich_help_panel="During training")(bundle)


def bundle(
    run: Annotated[str | None, typer.Argument(help="A run's id or folder (default: the last one).")] = None,
    runs: Runs = None,
    wait: Annotated[float, typer.Option(metavar="SECONDS", help="How long to wait for the run's next step.")] = 60.0,
) -> None:
    """Save the next step of a running job to a file: weights, optimizer, batch, random states. The job continues.

    Example:

      paramedic bundle
    """
    folder = find_run(run, load_config(), runs)
    if not any(folder.glob("*.db")):
        raise ParamedicError(
            f"{folder} is not the folder of a run", expected="a run that is training right now", fix="paramedic bundle"
        )
    with reading(folder) as records:
        ended = all("seconds" in record.meta for record in records)
    if ended:
        raise ParamedicError(
            f"the run {folder.name} has ended, so there is no next step",
            expected="a run that is training right now",
            fix="paramedic run train.py, and paramedic bundle in another terminal",
        )
    before = set(folder.glob("*.pt"))
    request = folder / REQUEST
    open_private(request, "ab").close()
    voice.tell_terminal(f"waiting for the next step of {folder.name} …")
    end = time.monotonic() + wait
    while request.exists() and time.monotonic() < end:
        time.sleep(0.1)
    if request.exists():
        request.unlink(missing_ok=True)
        raise ParamedicError(
            f"the run {folder.name} did not respond within {wait:g} s",
            expected="a run that is training right now",
            fix="paramedic report shows whether it still runs",
        )
    bundles = sorted(folder.glob("*.pt"), key=lambda path: path.stat().st_mtime)
    if not bundles:
        raise ParamedicError(
            f"the run {folder.name} has answered, but wrote no bundle",
            expected="a run that has a model and calls backward()",
            fix="its own output says why",
        )
    for path in sorted(set(bundles) - before) or bundles[-1:]:
        print(path)
