"""The journal's file: one JSON object a line, appended to and never rewritten, beside the folder of the runs."""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict, field, fields
from pathlib import Path
from typing import Any

from paramedic.frozen import dataclass
from paramedic.paths import HOME, append_private, make_private_folder

FILE = "journal.jsonl"
LARGEST = 50_000_000  # bytes
KINDS = ("note", "assumption", "outcome", "run", "audit", "experiments")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One thing that somebody wrote, or that paramedic did."""

    kind: str  # one of KINDS
    text: str
    time: float = field(default_factory=time.time)
    run: str | None = None  # the id of the run it belongs to
    script: str = ""
    findings: tuple[str, ...] = ()  # "PM502 softmax-before-cross-entropy (train.py:41)"
    commit: str | None = None
    diff: str = ""  # of the user's code, since the run before


def file_of(runs: Path) -> Path:
    """Beside the runs where their folder is paramedic's own; in it where it is the user's."""
    return (runs.parent if runs.absolute().parent.name == HOME else runs) / FILE


def add(runs: Path, entry: Entry) -> None:
    """Raises OSError where the folder cannot be written."""
    file = file_of(runs)
    make_private_folder(file.parent / "runs" if file.parent.name == HOME else file.parent)
    number = append_private(file)
    try:
        os.write(number, (json.dumps(asdict(entry)) + "\n").encode("utf-8", "backslashreplace"))
    finally:
        os.close(number)


def read(runs: Path) -> list[Entry]:
    """All entries, the oldest first; a line that somebody has spoilt is left out."""
    file = file_of(runs)
    if not file.is_file() or file.is_symlink() or file.stat().st_size > LARGEST:
        return []
    lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    found = [entry for line in lines if (entry := _entry(line)) is not None]
    return sorted(found, key=lambda entry: entry.time)


def _entry(line: str) -> Entry | None:
    try:
        values: dict[str, Any] = json.loads(line)
        known = {each.name: values[each.name] for each in fields(Entry) if each.name in values}
        known["findings"] = tuple(map(str, known.get("findings", ())))
        entry = Entry(**known)
        texts = (entry.text, entry.script, entry.diff, entry.commit or "", entry.run or "")
        return entry if entry.kind in KINDS and all(isinstance(t, str) for t in texts) and entry.time > 0 else None
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None
