"""What enters itself: every run, audit and set of experiments, with its findings, its commit and what was changed."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from paramedic import voice
from paramedic.findings.words import headline, number, place, plural
from paramedic.journal import assumptions, book
from paramedic.journal.book import Entry
from paramedic.masking import masked_text
from paramedic.own_code import commit_of
from paramedic.record.reader import Run

if TYPE_CHECKING:
    from paramedic.findings import Diagnosis, Finding

MOST_DIFF = 40  # lines


def enter(runs: Path, diagnosis: Diagnosis, *, kind: str = "run", text: str = "") -> None:
    """Never fails: a journal that cannot be written is no reason to lose a verdict."""
    try:
        before = book.read(runs)
        folder = runs / diagnosis.run.id
        book.add(
            runs,
            Entry(
                kind=kind,
                text=text or _sentence(diagnosis),
                run=diagnosis.run.id if diagnosis.run.record else None,
                script=diagnosis.run.script,
                findings=tuple(_named(finding) for finding in diagnosis.alarms),
                commit=commit_of(Path.cwd()),
                diff=masked_text(_changed(runs, folder, diagnosis.run.script, before)) if kind != "audit" else "",
            ),
        )
        _answer_assumptions(runs, diagnosis, before)
    except OSError:
        return


def _answer_assumptions(runs: Path, diagnosis: Diagnosis, before: Sequence[Entry]) -> None:
    """What this run contradicts is said, once: then the assumption is settled."""
    settled = {entry.text.partition('"')[2].rpartition('"')[0] for entry in before if entry.kind == "outcome"}
    for text in dict.fromkeys(entry.text for entry in before if entry.kind == "assumption"):
        answer = assumptions.check(text, diagnosis)
        if text in settled or answer.holds is not False:
            continue
        said = f'"{text}" does not hold: {answer.because}'
        run = diagnosis.run.id if diagnosis.run.record else None
        book.add(runs, Entry(kind="outcome", text=said, run=run, script=diagnosis.run.script))
        voice.say(f"paramedic: your assumption {said}")


def _sentence(diagnosis: Diagnosis) -> str:
    said = headline(diagnosis)
    run = diagnosis.run
    if run.samples is not None:
        return f"{said}, {plural(run.samples, 'sample')}"
    said += f", {plural(run.steps, 'step')}"
    if run.progress is not None:
        said += f", loss {number(run.progress.first)} → {number(run.progress.last)}"
    return said


def _named(finding: Finding) -> str:
    spot = f" ({place(finding.where)[0]})" if place(finding.where) else ""
    return f"{finding.code} {finding.name}{spot}"


def _changed(runs: Path, folder: Path, script: str, before: Sequence[Entry]) -> str:
    """The difference between this run's code and that of the last run of the same script."""
    last = next((e.run for e in reversed(before) if e.script == script and e.run and e.run != folder.name), None)
    old, new = _code(runs / last) if last is not None else {}, _code(folder)
    if not old or not new:
        return ""
    lines: list[str] = []
    for name in sorted({*old, *new}):
        a, b = old.get(name, "").splitlines(), new.get(name, "").splitlines()
        lines += difflib.unified_diff(a, b, f"a/{name}", f"b/{name}", lineterm="", n=1)
    more = len(lines) - MOST_DIFF
    return "\n".join([*lines[:MOST_DIFF], *([f"… and {plural(more, 'more line')}"] if more > 0 else [])])


def _code(folder: Path) -> dict[str, str]:
    record = folder / "main.db"
    if not record.is_file() or record.is_symlink():
        return {}
    try:
        code = Run(record).meta.get("code", {})
        return {str(name): str(text) for name, text in code.items()}
    except Exception:  # a record of another version, or one that was cut short: only the difference is lost
        return {}
