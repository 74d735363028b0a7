"""Notes that people write on a run's page: they go to the journal, and never to the record."""

from __future__ import annotations

import json
import time
from pathlib import Path

from paramedic.journal import assumptions, book
from paramedic.journal.book import Entry
from paramedic.own_code import commit_of
from paramedic.reports import html

LONGEST = 4_000  # characters
MOST_BYTES = 6 * LONGEST + 1_000  # of a request: a character may take six in JSON
SHOWN = ("note", "assumption", "outcome")
MOST_SHOWN = 50


class Refused(Exception):
    """What was sent is no note; the message is for who wrote it."""


class Notes:
    """What the journal says about one run. It is read again when its file has changed."""

    def __init__(self, runs: Path, run: str) -> None:
        self._runs, self._run = runs, run
        self._seen: object = None
        self._drawn = ""

    def write(self, body: bytes) -> str:
        """Append the note, and say what became of it."""
        try:
            sent = json.loads(body)
            text, assumed = sent["text"], sent["assumption"]
        except (ValueError, TypeError, KeyError, RecursionError):
            raise Refused("This is not a note.") from None
        if not isinstance(text, str) or not isinstance(assumed, bool) or not text.strip() or len(text) > LONGEST:
            raise Refused(f"A note has 1 to {LONGEST:,} characters.")
        kind = "assumption" if assumed else "note"
        book.add(self._runs, Entry(kind=kind, text=text.strip(), run=self._run, commit=commit_of(Path.cwd())))
        checked = not assumed or assumptions.is_checkable(text)
        return "Written to the journal." + ("" if checked else " It cannot be checked automatically.")

    def section(self) -> str:
        file = book.file_of(self._runs)
        stamp = (file.stat().st_mtime_ns, file.stat().st_size) if file.is_file() else None
        if stamp != self._seen:
            self._seen = stamp
            own = [e for e in book.read(self._runs) if e.run == self._run and e.kind in SHOWN][-MOST_SHOWN:]
            rows = [(time.strftime("%Y-%m-%d %H:%M", time.localtime(e.time)), e.kind, e.text) for e in own]
            self._drawn = html.part("notes", rows=rows)
        return self._drawn
