"""`paramedic audit`: is the data fit to learn from?"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paramedic import voice
from paramedic.cli.options import Ignore, Quiet, Select, Verbose, words
from paramedic.cli.output import write_verdict
from paramedic.cli.verdicts import Html, Json
from paramedic.config import load_config, new_run_id, rule_options, runs_folder
from paramedic.errors import ParamedicError, message_of, shown
from paramedic.masking import masked_words
from paramedic.paths import check_outputs, write_text
from paramedic.rules.catalogue import select as select_rules

if TYPE_CHECKING:
    from paramedic.audit.audit import Audit
    from paramedic.audit.chunk import Source
    from paramedic.findings import Diagnosis
    from paramedic.rules.rule import Rule

Data = Annotated[
    Path | None, typer.Argument(metavar="FILE|FOLDER", help="csv, jsonl, parquet, npz, images, COCO or VOC boxes.")
]
Script = Annotated[
    str | None, typer.Option(metavar="'FILE ARGS'", help="Audit the loaders that this training script builds.")
]
Val = Annotated[Path | None, typer.Option(metavar="PATH", help="Validation data to compare with.")]
Label = Annotated[str | None, typer.Option(metavar="COLUMN", help="The column or array that holds the target.")]
TaskName = Annotated[
    str | None, typer.Option("--task", metavar="TASK", help="classification, regression …; else guessed.")
]
CleanVal = Annotated[
    Path | None, typer.Option(metavar="OUT", help="Write the validation data without samples that are in train.")
]
On = Annotated[str | None, typer.Option(metavar="ray", help="Read the data on a Ray cluster, in parallel.")]
Sample = Annotated[int | None, typer.Option(min=1, metavar="N", help="Look at N samples only, drawn at random.")]
SubsetOf = Annotated[
    tuple[int, Path] | None,
    typer.Option("--subset", metavar="N OUT", help="Only write N samples, stratified by class."),
]


def add_to(app: typer.Typer) -> None:
    app.command("audit", rich_help_panel="Before training")(audit)


def audit(
    data: Data = None,
    val: Val = None,
    script: Script = None,
    label: Label = None,
    task: TaskName = None,
    sample: Sample = None,
    subset: SubsetOf = None,
    clean_val: CleanVal = None,
    on: On = None,
    json: Json = None,
    html: Html = None,
    select: Select = None,
    ignore: Ignore = None,
    verbose: Verbose = 0,
    quiet: Quiet = False,
) -> None:
    """Examine data before training on it: labels, duplicates, leaks, ranges, boxes, signal.

    Exits 0 if nothing was found, 1 otherwise. Nothing leaves this machine.

    Examples:

      paramedic audit train.csv --val test.csv --label species

      paramedic audit images/ --html audit.html

      paramedic audit --script "train.py --epochs 3"
    """
    check_outputs(json, html)
    config = load_config()
    folder = runs_folder(config) / new_run_id()
    if script is not None:
        folder, sources = _from_script(script, sample, folder.parent)
    else:
        sources = _from_files(data, val, label, sample)
    if subset is not None:
        from paramedic.audit.subset import write_subset

        written = write_subset(sources["train"], *subset)
        voice.say(f"paramedic: wrote {len(written):,} samples to {subset[1]}")
        return
    from paramedic.auditing.keeping import keep
    from paramedic.auditing.report import Report
    from paramedic.past_runs import conclude

    rules = select_rules(chosen=words(select) or config.select, ignored=words(ignore) or config.ignore)
    found, diagnosis = _examined(sources, rules, rule_options(config), task=task, on=on, quiet=quiet)
    diagnosis = keep(folder, found, diagnosis)
    write_verdict(diagnosis, verbose=verbose, quiet=quiet, stream=None if script else sys.stdout)
    conclude(folder, diagnosis, kind="audit")
    report = Report(diagnosis=diagnosis, audit=found)
    for path, kind in ((json, "json"), (html, "html")):
        if path is not None:
            write_text(path, report.rendered(kind), fix="choose another place")
            voice.say(f"paramedic: wrote {path}")
    if clean_val is not None:
        from paramedic.audit.subset import write_without

        leaked = {index for f in diagnosis.findings if f.code == "PM307" for index in f.samples}
        rest = write_without(sources.get("val"), leaked, clean_val)
        again = "" if rest else ": nothing of val is new to train; split again, by groups (GroupShuffleSplit)"
        voice.say(f"paramedic: wrote {rest:,} samples to {clean_val}{again}")
    raise typer.Exit(1 if diagnosis.alarms else 0)


def _examined(
    sources: dict[str, Source], rules: Sequence[Rule], options: Mapping[str, Any], *, task: str | None, on: str | None,
    quiet: bool,
) -> tuple[Audit, Diagnosis]:  # fmt: skip
    from paramedic.auditing.examine import examine

    command = " ".join(["paramedic", *map(shlex.quote, masked_words(sys.argv[1:]))])
    try:
        return examine(sources, rules, task=task, options=options, command=command, show_progress=not quiet, on=on)
    except (ParamedicError, OSError):
        raise
    except Exception as error:  # data that is not what it says it is, or that somebody has made to do harm
        train = sources["train"]
        raise ParamedicError(
            f"{train.title} could not be audited: {type(error).__name__}: {message_of(error)[:200]}",
            expected="samples that can all be read in the same way",
            fix=f"look in the {train.kind} for samples that are unlike the rest",
        ) from error


def _from_files(data: Path | None, val: Path | None, label: str | None, sample: int | None) -> dict[str, Source]:
    from paramedic.audit.sources.files import open_splits

    if data is None:
        raise ParamedicError(
            "no data was given",
            expected="a file, a folder, or --script with a training script",
            fix="paramedic audit train.csv",
        )
    return open_splits(data, val, label=label, sample=sample)


def _from_script(script: str, sample: int | None, runs: Path) -> tuple[Path, dict[str, Source]]:
    """Run the script to its first update, which is when its loaders exist, and stop it there."""
    from paramedic.auditing.from_run import sources_of
    from paramedic.launch import Target, launch
    from paramedic.settings import Settings

    name, *args = _split(script)
    settings = Settings(stop_after=1, probes=False, audit=True, bundle_limit=0)
    outcome = launch(Target(name=name, args=tuple(args)), runs=runs, settings=settings)
    if not outcome.torch_seen:
        raise ParamedicError(
            f"{name} never imported torch, so it built no DataLoader",
            expected="a training script",
            fix="paramedic audit DATA for data in files",
        )
    return outcome.folder, sources_of(outcome.folder, outcome.loaders, sample=sample)


def _split(script: str) -> list[str]:
    """The script and its arguments, as a shell would part them."""
    try:
        found = shlex.split(script)
        why = "names no script"
    except ValueError as error:
        found, why = [], f"cannot be parted into words: {error}"
    if not found or "\0" in script:
        raise ParamedicError(
            f"--script {shown(script)} {why}",
            expected="a script and its arguments, every quotation mark closed",
            fix="paramedic audit --script 'train.py --epochs 3'",
        )
    return found
