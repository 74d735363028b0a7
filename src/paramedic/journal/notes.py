"""`paramedic.note` and `paramedic.assume`: entries from code, tied to the run that is being watched."""

from __future__ import annotations

from pathlib import Path

from paramedic import at_work, voice
from paramedic.journal import book
from paramedic.journal.book import Entry


def note(text: str) -> None:
    """Write a note into the journal (see `paramedic journal`). Never fails."""
    _write("note", text)


def assume(text: str) -> None:
    """Write down an assumption, such as "loss falls below 0.3 by step 500". A run that contradicts it will say so."""
    _write("assumption", text)


def _write(kind: str, text: str) -> None:
    from paramedic.config import load_config, runs_folder
    from paramedic.errors import ParamedicError
    from paramedic.own_code import commit_of

    attachment = at_work.current()
    try:
        if attachment is not None:
            folder: Path | None = attachment.watcher.writer.path.parent
            runs = folder.parent if folder is not None else Path()
        else:
            folder, runs = None, runs_folder(load_config())
        run = folder.name if folder is not None else None
        book.add(runs, Entry(kind=kind, text=str(text), run=run, commit=commit_of(Path.cwd())))
    except (OSError, ParamedicError) as error:
        voice.say(f"paramedic: the note was not written: {error}")
