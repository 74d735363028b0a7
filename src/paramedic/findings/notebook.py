"""The diagnosis as a notebook shows it: a small piece of HTML in the notebook's own style; red only if sick."""

from __future__ import annotations

from html import escape

from paramedic.findings import Diagnosis, Finding
from paramedic.findings.words import (
    MARKS,
    fold,
    headline,
    moment,
    number,
    percent,
    place,
    places,
    plural,
    tone,
    verdict,
)

COLOURS = {"sick": "#c62828", "healthy": "#2e7d32", "inconclusive": "#8a6d00"}
SEVERITIES = {"error": "#c62828", "warning": "#b26a00", "note": "#1565c0"}
MOST_NOTES = 5
_BOX = "border-left:4px solid {};padding:.3em .8em;margin:.4em 0;max-width:60em;line-height:1.45"


def render(diagnosis: Diagnosis) -> str:
    """The verdict first: in a notebook one reads from the top."""
    colour = COLOURS[tone(diagnosis)]
    head = f'<b style="color:{colour}">{escape(headline(diagnosis).capitalize())}.</b> {escape(verdict(diagnosis))}'
    parts = [f'<div style="{_BOX.format(colour)}">{head}</div>']
    folded = fold(diagnosis.findings)
    notes = [cause for cause, effects in folded if cause.severity == "note" and not effects]
    parts += [finding(cause, diagnosis, effects) for cause, effects in folded if cause not in notes]
    parts += [_note(note) for note in notes[:MOST_NOTES]]
    if len(notes) > MOST_NOTES:
        parts.append(f"<div>and {plural(len(notes) - MOST_NOTES, 'more note')}</div>")
    parts += [f"<div>Caveat: {escape(notice)}</div>" for notice in diagnosis.run.notices[:MOST_NOTES]]
    parts += [f"<div>{escape(line)}</div>" for line in diagnosis.run.data]
    return f'<div class="paramedic">{"".join(parts)}</div>'


def finding(found: Finding, diagnosis: Diagnosis | None = None, effects: list[Finding] | None = None) -> str:
    severity = found.severity or "note"
    rows = [("what", escape(found.what))]
    if spots := places(found, ranks=diagnosis.run.ranks if diagnosis is not None else 1):
        source = diagnosis.run.source.get(f"{found.where.file}:{found.where.line}", "") if diagnosis is not None else ""
        code = f"<br><code>{escape(source.strip())}</code>" if source else ""
        rows.append(("where", escape(" · ".join(spots)) + code))
    rows += [("why", escape(found.why))] if found.why else []
    rows += [("try", f"<b>{escape(found.remedy)}</b>")] if found.remedy else []
    rows += [("so", escape(f"{effect.code} {effect.name}: {effect.what}")) for effect in effects or ()]
    style = 'style="vertical-align:top;text-align:left;padding:.1em .8em .1em 0;background:none"'
    table = "".join(f"<tr><td {style}>{label}</td><td {style}>{words}</td></tr>" for label, words in rows)
    title = f"{MARKS[severity]} {found.code} {found.name}"
    head = f'<b style="color:{SEVERITIES[severity]}">{escape(title)}</b> <small>{escape(moment(found))}</small>'
    return f'<div style="{_BOX.format(SEVERITIES[severity])}">{head}<table>{table}</table>{_evidence(found)}</div>'


def _evidence(found: Finding) -> str:
    if not found.evidence:
        return ""
    limits = [f" (limit {fact.limit})" if fact.limit else "" for fact in found.evidence]
    facts = [f"{fact.name} = {number(fact.value)}{limit}" for fact, limit in zip(found.evidence, limits, strict=True)]
    listed = "".join(f"<li>{escape(fact)}</li>" for fact in [*facts, f"sure: {percent(found.confidence)}"])
    return f"<details><summary>Evidence</summary><ul>{listed}</ul></details>"


def _note(note: Finding) -> str:
    spot = f" ({place(note.where)[0]})" if place(note.where) else ""
    return f"<div>{MARKS['note']} {escape(f'{note.code} {note.name}: {note.what}{spot}')}</div>"
