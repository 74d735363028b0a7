"""A comparison told: on a terminal, as JSON, as one HTML file. Models, checkpoints and runs all come as a Story."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from paramedic.parity.comparison import Comparison, LayerResult, Part
from paramedic.reports.json import plain
from paramedic.reports.screen import Screen

SCHEMA_VERSION = 1
MARKS = {"differ": "✗", "agree": "✓", "rounding": "✓"}
MOST_ROWS = 12


@dataclass(slots=True, kw_only=True)
class Section:
    """A heading and lines with a label each."""

    title: str
    rows: list[tuple[str, str]] = field(default_factory=list)
    mark: str = "•"


@dataclass(slots=True, kw_only=True)
class Story:
    """What is told, in the same words everywhere; `data` holds the numbers for machines."""

    kind: str  # models, checkpoints, runs, commits
    verdict: str
    sentence: str
    sections: Sequence[Section]
    data: Mapping[str, object]
    picture: str = ""  # SVG


def render(story: Story, *, width: int = 80, color: bool = False, unicode: bool = True, quiet: bool = False) -> str:
    """For a terminal."""
    screen = Screen(width=width, color=color, unicode=unicode)
    for section in () if quiet else story.sections:
        style = "bold red" if section.mark == "✗" else "bold"
        screen.line((section.title, style), label=(f"{section.mark} ", style), indent=2)
        indent = max([7, *(len(label) for label, _ in section.rows)]) + 4
        for label, text in section.rows:
            screen.line(text, label=(f"  {label}", "dim"), indent=indent)
        screen.blank()
    screen.line((f"Verdict: {story.verdict}. ", "bold"), story.sentence)
    return str(screen)


def as_json(story: Story) -> str:
    data = {"schema_version": SCHEMA_VERSION, "kind": story.kind, "verdict": story.verdict, "sentence": story.sentence}
    return json.dumps(plain({**data, **story.data}), indent=2, allow_nan=False) + "\n"


def as_html(story: Story) -> str:
    """One file, readable without a network or scripts."""
    style = (Path(__file__).parent.parent / "reports" / "page" / "page.css").read_text(encoding="utf-8")
    parts = [f"<h1>Verdict: {html.escape(story.verdict)}</h1><p>{html.escape(story.sentence)}</p>", story.picture]
    for section in story.sections:
        rows = "".join(f"<tr><th>{html.escape(a)}</th><td>{html.escape(b)}</td></tr>" for a, b in section.rows)
        parts.append(f"<section><h2>{html.escape(section.title)}</h2><table>{rows}</table></section>")
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><style>{style}</style>'
    top = f"<!doctype html><html lang='en'><head>{head}<title>paramedic compare</title></head>"
    return f"{top}<body><main>{''.join(parts)}</main></body></html>\n"


def story_of(found: Comparison) -> Story:
    """Two models."""
    sections = [_difference(part, found.precision, first=number == 0) for number, part in enumerate(found.parts)]
    told = {name for part in found.parts for name in (part.a, part.b)}
    local = [row for row in found.layers if (row.local or 0) > found.tolerance and row.b not in told]
    if local and found.verdict == "differ":
        rows = [(f"{row.local:.1e}", _names(row)) for row in local[:MOST_ROWS]]
        sections.append(Section(title="More layers that differ when both sides get the same input", rows=rows))
    if found.gradients:
        rows = [(f"{row.error:.1e}", f"{_names(row)} ({row.evidence})") for row in found.gradients[:MOST_ROWS]]
        sections.append(Section(title="Gradients that differ, in the order of backward", rows=rows, mark="✗"))
    for label, names in (("a", found.unmatched_a), ("b", found.unmatched_b)):
        if names and found.verdict == "differ":
            rows = [("", ", ".join(names[:MOST_ROWS]) + (" …" if len(names) > MOST_ROWS else ""))]
            sections.append(Section(title=f"Layers that only {label} has", rows=rows))
    if found.notes:
        sections.append(Section(title="Notes", rows=[("", note) for note in found.notes]))
    return Story(kind="models", verdict=found.verdict, sentence=found.sentence, sections=sections, data=asdict(found))


def _difference(part: Part, precision: str, *, first: bool) -> Section:
    where = part.b or part.a or "the model itself"
    lines = "between its layers" if part.between else part.kind
    rows = [("what", _what(part, precision))]
    if part.a != part.b:
        rows.append(("where", f"{part.a or 'the model itself'} in a, {part.b or 'the model itself'} in b"))
    if part.cause:
        rows.append(("why", part.cause + (f" (default: {part.default})" if part.default else "")))
    elif part.hints:
        rows += [("why" if n == 0 else "", hint) for n, hint in enumerate(part.hints)]
    else:
        rows.append(("why", "could not be found out"))
    if part.confirmed and part.agreement is not None:
        who = "the optimizers" if part.a == "the optimizer" else "the models"
        whole = f"confirmed: with {part.change} {who} agree {agreed(part.agreement)}"
        partly = (
            f"confirmed here: with {part.change} this difference is gone; the outputs are {part.agreement:.1e} apart"
        )
        rows.append(("proof", whole if part.agreement < 1e-5 else partly))
    return Section(title=f"{'First difference' if first else 'Next'}: {where} ({lines})", rows=rows, mark="✗")


def agreed(error: float) -> str:
    return "exactly" if error == 0 else f"to {error:.0e}"


def _what(part: Part, precision: str) -> str:
    at = f" at {list(part.index)}" if part.index else ""
    if part.a == "the optimizer":
        return f"with equal gradients the updates are {part.error:.1e} apart (relative), first at {part.place}"
    given = "with equal input its output is" if not part.between else "what goes in agrees, what comes out is"
    if part.error == float("inf"):
        return f"{given} of another shape, or NaN on one side only"
    return f"{given} {part.error:.1e} off (relative; {part.largest:.1e} at most{at}; {precision})"


def _names(row: LayerResult) -> str:
    return row.b if row.a == row.b else f"{row.a} / {row.b}"
