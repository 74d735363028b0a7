"""The runs in a folder: how each ended, kept beside its record so that a list needs no rule to be asked again."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paramedic.errors import ParamedicError
from paramedic.findings.words import headline
from paramedic.frozen import dataclass
from paramedic.paths import write_private

if TYPE_CHECKING:
    from paramedic.findings import Diagnosis

VERDICT_FILE = "verdict.json"
RUNNING, UNREADABLE = "running", "not readable"
LARGEST = 1_000_000  # bytes of a verdict
_RUN_ID = re.compile(r"\d{8}-\d{6}-[0-9a-f]{6}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One run, as a list shows it."""

    id: str
    state: str  # the verdict's word, or that the run is under way
    findings: tuple[str, ...] = ()  # codes of its alarms, the most important first
    script: str = ""
    steps: int = 0
    loss: float | None = None  # the last value, where there is one loss only
    started: float = 0.0  # seconds since the epoch


def conclude(folder: Path, diagnosis: Diagnosis, *, kind: str = "run") -> None:
    """A run is over: its verdict stays beside the record, and enters the journal."""
    from paramedic.journal import automatic

    keep_verdict(folder, diagnosis)
    automatic.enter(folder.parent, diagnosis, kind=kind)


def keep_verdict(folder: Path, diagnosis: Diagnosis) -> None:
    """Leave the verdict beside the record. Not worth an error: it can be worked out again."""
    if (folder / VERDICT_FILE).is_symlink() or not folder.is_dir():
        return
    try:
        write_private(folder / VERDICT_FILE, json.dumps(asdict(_entry(diagnosis)), indent=2) + "\n")
    except OSError:
        return


def listed(runs: Path) -> list[Entry]:
    """The newest first; names begin with the time."""
    return [_read(folder) for folder in reversed(folders(runs))]


def folders(runs: Path) -> list[Path]:
    """Those that hold a run, the oldest first."""
    return sorted(folder for folder in runs.glob("*") if _RUN_ID.fullmatch(folder.name) and _is_run(folder))


def prune(runs: Path, keep: int) -> tuple[list[Path], int]:
    """Delete all but the newest `keep` runs, and none that is under way. Returns what went, and how many bytes."""
    old = [folder for folder in folders(runs)[: -keep or None] if _read(folder).state != RUNNING]
    size = sum(file.lstat().st_size for folder in old for file in folder.rglob("*") if file.is_file())
    for folder in old:
        shutil.rmtree(folder)
    return old, size


def _is_run(folder: Path) -> bool:
    return folder.is_dir() and not folder.is_symlink() and any(folder.glob("*.db"))


def _entry(diagnosis: Diagnosis) -> Entry:
    run = diagnosis.run
    return Entry(
        id=run.id,
        state=headline(diagnosis),
        findings=tuple(dict.fromkeys(finding.code for finding in diagnosis.alarms)),
        script=run.script,
        steps=run.steps,
        loss=run.losses[0].values[-1] if len(run.losses) == 1 and run.losses[0].values else None,
        started=run.started,
    )


def _read(folder: Path) -> Entry:
    return kept(folder) or _judged(folder)


def kept(folder: Path) -> Entry | None:
    """The verdict that a run has left beside its record."""
    file = folder / VERDICT_FILE
    try:
        if file.is_symlink() or file.stat().st_size > LARGEST:
            return None
        values: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        known = {field.name: values[field.name] for field in fields(Entry)}
        loss = None if known["loss"] is None else float(known["loss"])
        return Entry(
            id=folder.name,
            state=str(known["state"]),
            findings=tuple(map(str, known["findings"])),
            script=str(known["script"]),
            steps=int(known["steps"]),
            loss=loss,
            started=float(known["started"]),
        )
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _judged(folder: Path) -> Entry:
    """A run that could not keep its verdict: it is under way, or it was killed."""
    from paramedic.config import load_config, rule_options
    from paramedic.diagnosis import diagnose
    from paramedic.record.ending import is_under_way
    from paramedic.rules.catalogue import select

    try:
        running = is_under_way(folder)
        config = load_config()
        rules = () if running else select(chosen=config.select, ignored=config.ignore)
        diagnosis = diagnose(folder, rules, rule_options(config))
    except ParamedicError:
        return Entry(id=folder.name, state=UNREADABLE, started=folder.stat().st_mtime)
    if running:
        entry = asdict(_entry(diagnosis)) | {"state": RUNNING}
        return Entry(**entry)
    conclude(folder, diagnosis)
    return _entry(diagnosis)


def table(entries: Sequence[Entry], *, width: int | None) -> Iterator[str]:
    """A heading and a line per run; the script comes last and is cut where the line would not fit."""
    from paramedic.findings.words import number

    rows = [("run", "age", "verdict", "steps", "loss", "script")]
    for entry in entries:
        loss = "" if entry.loss is None else number(entry.loss)
        rows.append(
            (entry.id, age(time.time() - entry.started), state_of(entry), f"{entry.steps:,}", loss, entry.script)
        )
    sizes = [max(len(row[column]) for row in rows) for column in range(5)]
    for run, when, state, steps, loss, script in rows:
        cells = (run.ljust(sizes[0]), when.rjust(sizes[1]), state.ljust(sizes[2]))
        line = "  ".join((*cells, steps.rjust(sizes[3]), loss.rjust(sizes[4]), ""))
        yield line + (script if width is None else _end_of(script, width - len(line)))


def state_of(entry: Entry) -> str:
    """Such as "sick PM502 +1"."""
    more = f" +{len(entry.findings) - 1}" if len(entry.findings) > 1 else ""
    return f"{entry.state} {entry.findings[0]}{more}" if entry.findings else entry.state


def _end_of(text: str, room: int) -> str:
    return text if len(text) <= max(room, 8) else f"…{text[1 - max(room, 8) :]}"


def age(seconds: float) -> str:
    for size, word in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {word}"
    return "now"
