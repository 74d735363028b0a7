"""`paramedic journal`: the lab notebook."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from paramedic import voice
from paramedic.cli.options import Runs
from paramedic.cli.report import find_run
from paramedic.config import load_config, runs_folder
from paramedic.paths import check_outputs, write_text
from paramedic.reports.screen import clean, speaks_unicode

Note = Annotated[str | None, typer.Argument(metavar="[NOTE]", help="What to write down. Without it: show the journal.")]
Assume = Annotated[bool, typer.Option("--assume", help="It is an assumption: later runs say when they contradict it.")]
Run = Annotated[str | None, typer.Option(metavar="RUN", help="The run that the note is about.")]
Out = Annotated[Path | None, typer.Option(metavar="FILE", help="Write the journal as Markdown.")]


def add_to(app: typer.Typer) -> None:
    app.command("journal", rich_help_panel="Any time")(journal)


def journal(note: Note = None, assume: Assume = False, run: Run = None, out: Out = None, runs: Runs = None) -> None:
    """Keep a lab notebook: notes and assumptions of yours; runs, audits and experiments enter themselves.

    Examples:

      paramedic journal "warmup seems to help"

      paramedic journal --assume "loss falls below 0.3 by step 500"

      paramedic journal --out journal.md
    """
    from paramedic.journal import assumptions, book, markdown
    from paramedic.own_code import commit_of

    config = load_config()
    folder = runs_folder(config, runs)
    check_outputs(out)
    if note is not None:
        about = find_run(run, config, runs).name if run is not None else None
        kind = "assumption" if assume else "note"
        book.add(folder, book.Entry(kind=kind, text=note, run=about, commit=commit_of(Path.cwd())))
        how = "" if not assume or assumptions.is_checkable(note) else " It cannot be checked automatically."
        voice.say(f"paramedic: {kind} written to {book.file_of(folder)}.{how}")
    entries = book.read(folder)
    if out is not None:
        write_text(out, markdown.render(entries), fix="--out some-other-file")
        voice.say(f"paramedic: wrote {out}")
    elif note is None and entries:
        print(clean(markdown.render(entries), unicode=speaks_unicode(sys.stdout)), end="")
    elif note is None:
        print(f'the journal in {folder} is empty; paramedic journal "a note" writes the first entry')
