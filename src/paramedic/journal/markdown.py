"""The journal as Markdown, by day."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import groupby

from paramedic.journal.book import Entry

WORDS = {"experiments": "experiments", "run": "run", "audit": "audit"}


def render(entries: Sequence[Entry]) -> str:
    lines = ["# Journal", ""]
    for day, group in groupby(entries, key=lambda entry: time.strftime("%Y-%m-%d, %A", time.localtime(entry.time))):
        lines += [f"## {day}", ""]
        for entry in group:
            lines += _entry(entry)
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _entry(entry: Entry) -> Iterator[str]:
    at = time.strftime("%H:%M", time.localtime(entry.time))
    what = f"{_plain(entry.script)}: " if entry.script and entry.kind in WORDS else ""
    yield f"- {at} **{entry.kind}** {what}{_plain(entry.text)}{_tied(entry)}"
    for finding in entry.findings:
        yield f"  - {_plain(finding)}"
    if entry.diff:
        yield "  - changed since the run before:"
        yield ""
        yield "    ```diff"
        yield from (f"    {line}" for line in entry.diff.splitlines())
        yield "    ```"
        yield ""


def _tied(entry: Entry) -> str:
    """The run and the commit it belongs to."""
    parts = [f"run {_plain(entry.run)}"] if entry.run else []
    parts += [f"commit {_plain(entry.commit)[:10]}"] if entry.commit else []
    return f" ({', '.join(parts)})" if parts else ""


def _plain(text: str | None) -> str:
    """On one line, and without what would end it."""
    return " ".join(str(text or "").split())
