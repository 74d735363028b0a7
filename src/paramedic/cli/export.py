"""`paramedic export`: a recorded run for an experiment tracker."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from paramedic import voice
from paramedic.cli.options import Runs
from paramedic.cli.report import find_run
from paramedic.config import load_config, rule_options
from paramedic.paths import check_folder
from paramedic.rules.catalogue import select


class Tracker(StrEnum):
    wandb = "wandb"
    mlflow = "mlflow"
    trackio = "trackio"


def add_to(app: typer.Typer) -> None:
    app.command("export", rich_help_panel="After training")(export)


def export(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where the tracker's files go.")],
    to: Annotated[Tracker, typer.Option(help="The tracker.")],
    run: Annotated[str | None, typer.Argument(help="A run's id or folder (default: the last one).")] = None,
    runs: Runs = None,
) -> None:
    """Write a run's curves and verdict as an offline run of W&B, a file store of MLflow or a folder of trackio.

    Nothing is sent anywhere: `wandb sync`, `mlflow ui` and `TRACKIO_DIR=DIR trackio show` read what is written. For
    TensorBoard there is `paramedic report --tensorboard DIR`.

    Examples:

      paramedic export tracked --to wandb

      paramedic export mlruns 20260102-101500-a1b2c3 --to mlflow
    """
    from paramedic.diagnosis import diagnose
    from paramedic.reports import trackers

    trackers.check_installed(to.value)
    check_folder(folder, fix="paramedic export some-other-folder --to …")
    config = load_config()
    record = find_run(run, config, runs)
    rules = select(chosen=config.select, ignored=config.ignore)
    diagnosis = diagnose(record, rules, rule_options(config))
    trackers.export(record, diagnosis, to.value, folder)
    voice.say(f"paramedic: wrote {diagnosis.run.id} to {folder} for {to.value}")
