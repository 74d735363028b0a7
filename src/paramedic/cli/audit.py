"""`paramedic audit`: is the data fit to learn from?"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from paramedic import voice
from paramedic.cli.output import write_verdict
from paramedic.cli.run import Html, Ignore, Json, Quiet, Select, Verbose, words
from paramedic.config import load_config, rule_options
from paramedic.errors import ParamedicError
from paramedic.rules.catalogue import select as select_rules

Data = Annotated[
    Path, typer.Argument(metavar="FILE|FOLDER", help="csv, jsonl, parquet, npz, images, COCO or VOC boxes.")
]
Val = Annotated[Path | None, typer.Option(metavar="PATH", help="The validation data, to compare with.")]
Label = Annotated[str | None, typer.Option(metavar="COLUMN", help="The column or array that holds the target.")]
TaskName = Annotated[
    str | None, typer.Option("--task", metavar="TASK", help="classification, regression …; else guessed.")
]
Sample = Annotated[int | None, typer.Option(min=1, metavar="N", help="Look at N samples only, drawn at random.")]
SubsetOf = Annotated[
    tuple[int, Path] | None,
    typer.Option("--subset", metavar="N OUT", help="Only write N samples, each class with its share."),
]


def add_to(app: typer.Typer) -> None:
    app.command("audit", rich_help_panel="Before training")(audit)


def audit(
    data: Data,
    val: Val = None,
    label: Label = None,
    task: TaskName = None,
    sample: Sample = None,
    subset: SubsetOf = None,
    json: Json = None,
    html: Html = None,
    select: Select = None,
    ignore: Ignore = None,
    verbose: Verbose = 0,
    quiet: Quiet = False,
) -> None:
    """Examine data before training on it: labels, duplicates, leaks, ranges, boxes, signal.

    Exits with 0 when nothing was found, with 1 when something was. Nothing leaves this machine.

    Examples:

      paramedic audit train.csv --val test.csv --label species

      paramedic audit images/ --html audit.html
    """
    from paramedic.audit.sources.files import open_splits

    for path in (json, html):
        if path is not None and not path.absolute().parent.is_dir():
            raise ParamedicError(f"the folder {path.parent} does not exist", fix=f"mkdir -p {path.parent}")
    sources = open_splits(data, val, label=label, sample=sample)
    if subset is not None:
        from paramedic.audit.subset import write_subset

        written = write_subset(sources["train"], *subset)
        voice.say(f"paramedic: wrote {len(written):,} samples to {subset[1]}")
        return
    from paramedic.audit.examine import examine
    from paramedic.audit.report import Report

    config = load_config()
    rules = select_rules(chosen=words(select) or config.select, ignored=words(ignore) or config.ignore)
    command = " ".join(["paramedic", *map(shlex.quote, sys.argv[1:])])
    found, diagnosis = examine(
        sources, rules, task=task, options=rule_options(config), command=command, show_progress=not quiet
    )
    write_verdict(diagnosis, verbose=verbose, quiet=quiet, stream=sys.stdout)
    report = Report(diagnosis=diagnosis, audit=found)
    for path, kind in ((json, "json"), (html, "html")):
        if path is not None:
            path.write_text(report.rendered(kind), encoding="utf-8")
            voice.say(f"paramedic: wrote {path}")
    raise typer.Exit(1 if diagnosis.alarms else 0)
