"""`paramedic merge`: one verdict for ranks that trained on several machines."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from paramedic import voice
from paramedic.cli.options import Ignore, Runs, Select, Verbose, words
from paramedic.cli.output import write_verdict
from paramedic.cli.verdicts import Html, Json, Wanted
from paramedic.config import load_config, new_run_id, rule_options, runs_folder
from paramedic.rules.catalogue import select as select_rules

Folders = Annotated[list[Path], typer.Argument(metavar="DIR…", help="The run's folder on each machine.")]


def add_to(app: typer.Typer) -> None:
    app.command("merge", rich_help_panel="After training")(merge)


def merge(
    folders: Folders,
    json: Json = None,
    html: Html = None,
    runs: Runs = None,
    select: Select = None,
    ignore: Ignore = None,
    verbose: Verbose = 0,
) -> None:
    """Put the records of one job from several machines together, and give one verdict on all ranks.

    The records are copied into a new run; the folders given stay as they are. Exits 1 if there are findings.

    Example:

      paramedic merge node0/runs/20260102-101500 node1/runs/20260102-101502
    """
    from paramedic.diagnosis import diagnose
    from paramedic.past_runs import conclude
    from paramedic.record.merging import merge as merge_records

    wanted = Wanted(json=json, html=html).checked()
    config = load_config()
    rules = select_rules(chosen=words(select) or config.select, ignored=words(ignore) or config.ignore)
    into = runs_folder(config, runs) / new_run_id()
    ranks = merge_records(folders, into)
    voice.say(f"paramedic: ranks {', '.join(map(str, ranks))} are together in {into}")
    diagnosis = wanted.judged(diagnose(into, rules, rule_options(config)))
    conclude(into, diagnosis)
    write_verdict(diagnosis, verbose=verbose, stream=sys.stdout)
    wanted.write(diagnosis, into)
    raise typer.Exit(1 if diagnosis.new_alarms else 0)
