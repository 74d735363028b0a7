"""`paramedic runs`: what has been recorded here, and how it ended."""

from __future__ import annotations

import shutil
import sys
from typing import Annotated

import typer

from paramedic.cli.options import Runs
from paramedic.config import load_config, runs_folder
from paramedic.reports.screen import clean, speaks_unicode

Prune = Annotated[bool, typer.Option("--prune", help="Delete old runs; one that is under way stays.")]
Keep = Annotated[int, typer.Option(min=0, metavar="N", help="With --prune: how many of the newest runs stay.")]


def add_to(app: typer.Typer) -> None:
    app.command("runs", rich_help_panel="After training")(runs)


def runs(runs: Runs = None, prune: Prune = False, keep: Keep = 10) -> None:
    """List the recorded runs: verdict, steps, last loss, age, script.

    Examples:

      paramedic runs

      paramedic runs --prune --keep 20
    """
    from paramedic import past_runs

    folder = runs_folder(load_config(), runs)
    if prune:
        gone, size = past_runs.prune(folder, keep)
        print(f"deleted {len(gone):,} run{'' if len(gone) == 1 else 's'} in {folder}, {size / 1e6:,.1f} MB")
        return
    entries = past_runs.listed(folder)
    if not entries:
        print(f"no runs in {folder} yet; paramedic run train.py makes one")
        return
    width = shutil.get_terminal_size((80, 24)).columns if sys.stdout.isatty() else None
    for line in past_runs.table(entries, width=width):
        print(clean(line, unicode=speaks_unicode(sys.stdout)).replace("\n", " ").rstrip())
