"""`paramedic report`: the verdict of a finished, running or killed run."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from paramedic.cli.options import Ignore, Runs, Select, Verbose, words
from paramedic.cli.output import rendered, write_verdict
from paramedic.cli.verdicts import Annotate, Baseline, Board, Html, Json, Junit, Sarif, Update, Wanted
from paramedic.config import Config, load_config, rule_options, runs_folder
from paramedic.errors import ParamedicError
from paramedic.paths import kind_of
from paramedic.rules.catalogue import select as select_rules


class Format(StrEnum):
    text = "text"
    json = "json"
    html = "html"
    sarif = "sarif"
    junit = "junit"


def add_to(app: typer.Typer) -> None:
    app.command("report", rich_help_panel="After training")(report)


def report(
    run: Annotated[str | None, typer.Argument(help="A run's id or folder (default: the last one).")] = None,
    format: Annotated[Format, typer.Option(help="What to print on stdout.")] = Format.text,
    json: Json = None,
    html: Html = None,
    runs: Runs = None,
    select: Select = None,
    ignore: Ignore = None,
    verbose: Verbose = 0,
    tensorboard: Board = None,
    sarif: Sarif = None,
    junit: Junit = None,
    annotations: Annotate = None,
    baseline: Baseline = None,
    update_baseline: Update = False,
) -> None:
    """Show the verdict on a recorded run again, in any format. Exits 1 if there are findings.

    Example:

      paramedic report --html report.html
    """
    from paramedic.diagnosis import diagnose

    wanted = Wanted(
        json=json, html=html, sarif=sarif, junit=junit, tensorboard=tensorboard, annotations=annotations,
        baseline=baseline, update_baseline=update_baseline,
    )  # fmt: skip
    config = load_config()
    wanted = wanted.checked()
    rules = select_rules(chosen=words(select) or config.select, ignored=words(ignore) or config.ignore)
    options = rule_options(config)
    folder = find_run(run, config, runs)
    diagnosis = wanted.judged(diagnose(folder, rules, options))
    if format is Format.text:
        write_verdict(diagnosis, verbose=verbose, stream=sys.stdout)
    else:
        print(rendered(diagnosis, format.value))
    wanted.write(diagnosis, folder)
    raise typer.Exit(1 if diagnosis.new_alarms else 0)


def find_run(word: str | None, config: Config, runs: str | None) -> Path:
    """The folder of a run, by path or by id; without a word, the newest."""
    if word and kind_of(Path(word)) == "folder":
        return Path(word)
    folder = runs_folder(config, runs)
    known = sorted(path for path in folder.glob("*") if path.is_dir())
    if word is None and known:
        return known[-1]
    matching = [path for path in known if word and path.name.startswith(word)]
    if len(matching) == 1:
        return matching[0]
    names = ", ".join(path.name for path in (matching or known)[-5:]) or "none yet"
    raise ParamedicError(
        f"there is no run {word!r} in {folder}" if word else f"there are no runs in {folder}",
        expected=f"a run's id or folder; the last ones: {names}",
        fix="paramedic run train.py makes one",
    )
