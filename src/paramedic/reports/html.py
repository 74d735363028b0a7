"""The diagnosis as one HTML file that needs no network, and no JavaScript to be read."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paramedic.findings import Diagnosis, Finding, RunFacts, unchecked, words
from paramedic.reports import chart, prose
from paramedic.reports.evidence import Measured, measured
from paramedic.reports.pictures import Pictures

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

    from paramedic.rules.rule import Rule

PAGE = Path(__file__).parent / "page"
PARTS = ("verdict", "findings", "loss", "pictures", "checks", "about")  # sections that the live page exchanges
VERDICT_MARKS = {"sick": "✗", "healthy": "✓", "inconclusive": "?"}


def render(
    diagnosis: Diagnosis,
    *,
    rules: Sequence[Rule] | None = None,
    data: Mapping[str, Any] | None = None,
    lab: Mapping[str, Any] | None = None,
    cure: Sequence[Mapping[str, Any]] = (),
    pictures: Pictures | None = None,
) -> str:
    """The page. The documentation shown under a finding comes from `rules`, by default the whole catalogue.

    `data` is what an audit shows of the data: see page/data.html. `lab` holds what experiments have added: their
    verdict, a row for each, what they ruled out. `cure` are edits with their proofs.
    """
    context = _context(diagnosis, rules, data, lab, pictures) | {"cure": cure}
    return whole("report.html", ("page.css",), ("page.js",), **context)


def parts(diagnosis: Diagnosis, pictures: Pictures | None, **verdict: str) -> dict[str, str]:
    """The sections of the page by name, for the live page; without `pictures` all but those.

    `verdict` has other words for a run that has not ended.
    """
    context = _context(diagnosis, None, None, None, pictures) | verdict
    return {name: part(name, **context) for name in PARTS if pictures is not None or name != "pictures"}


def overlay(charts: Iterable[chart.Chart]) -> dict[str, str]:
    """Charts without a diagnosis, as sections: several runs side by side."""
    drawn = tuple(charts)
    pictures = Pictures(charts=drawn[1:])
    return {
        "loss": part("loss", chart=next(iter(drawn), None)),
        "pictures": part("pictures", times=(), pictures=pictures),
    }


def part(name: str, **context: Any) -> str:
    return safe(environment().get_template(f"{name}.html").render(**context))


def whole(template: str, styles: Sequence[str], scripts: Sequence[str], **context: Any) -> str:
    """A page with its styles and scripts in it, and their hashes for its security policy."""
    style, script = (
        _markup("\n".join((PAGE / name).read_text(encoding="utf-8") for name in names)) for names in (styles, scripts)
    )
    hashes = {"style_hash": _hash(style), "script_hash": _hash(script)}
    return safe(environment().get_template(template).render(style=style, script=script, **hashes, **context))


def safe(text: str) -> str:
    """A file name that is not UTF-8 must not cost the report."""
    return text.encode("utf-8", "replace").decode()


def _context(
    diagnosis: Diagnosis,
    rules: Sequence[Rule] | None,
    data: Mapping[str, Any] | None,
    lab: Mapping[str, Any] | None,
    pictures: Pictures | None,
) -> dict[str, Any]:
    known = {rule.code: rule for rule in (_catalogue() if rules is None else rules)}
    cards = _cards(diagnosis, known)
    marked = [(card.anchor, card.finding) for cause in cards for card in (cause, *cause.effects)]
    tone = lab["tone"] if lab else words.tone(diagnosis)
    little = [unchecked.saw_too_little(abstention) for abstention in diagnosis.abstained]
    return {
        "diagnosis": diagnosis,
        "run": diagnosis.run,
        "data": data,
        "lab": lab,
        "cards": cards,
        "headline": lab["headline"] if lab else words.headline(diagnosis),
        "sentence": lab["sentence"] if lab else words.verdict(diagnosis),
        "tone": tone,
        "verdict_mark": VERDICT_MARKS[tone],
        "facts": list(_facts(diagnosis.run)),
        "chart": _losses(diagnosis.run, marked),
        "pictures": pictures or Pictures(),
        "times": [(words.PARTS.get(t.part, t.part), words.short_time(t.seconds), t.share) for t in diagnosis.run.times],
        "unchecked": [
            (unchecked.in_short(group), unchecked.by_reason(group))
            for wanted in (False, True)
            if (group := [a for a, saw in zip(diagnosis.abstained, little, strict=True) if saw is wanted])
        ],
        "names": {code: rule.name for code, rule in known.items()},
    }


def _losses(run: RunFacts, marked: Sequence[tuple[str, Finding]]) -> chart.Chart | None:
    """Training and evaluation in one picture, with the loss of guessing where it is known."""
    curves = list(run.losses)
    if run.evaluations:
        curves = [replace(curve, label=f"training, {curve.label}") for curve in curves]
        curves += [replace(curve, label=f"evaluation, {curve.label}") for curve in run.evaluations]
    guess = run.progress.guessing if run.progress is not None else None
    levels = [] if guess is None else [chart.Level(value=guess, label=f"guessing gives {words.number(guess)}")]
    return chart.draw(curves, marked, levels=levels)


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A finding with what the page adds to it."""

    finding: Finding
    anchor: str  # PM502, and PM502-2 for a second finding of the same rule
    spots: list[str]
    source: str
    seen: tuple[Measured, ...]
    documentation: Markup | None  # once per rule
    effects: tuple[Card, ...]


def _cards(diagnosis: Diagnosis, rules: Mapping[str, Rule]) -> list[Card]:
    seen: Counter[str] = Counter()

    def card(finding: Finding, effects: Sequence[Finding]) -> Card:
        code, where = finding.code, finding.where
        seen[code] += 1
        first = seen[code] == 1
        return Card(
            finding=finding,
            anchor=code if first else f"{code}-{seen[code]}",
            spots=words.places(finding, ranks=diagnosis.run.ranks),
            source=diagnosis.run.source.get(f"{where.file}:{where.line}", "").strip(),
            seen=tuple(map(measured, finding.evidence)),
            documentation=_markup(prose.to_html(rules[code].documentation, top=4)) if first and code in rules else None,
            effects=tuple(card(effect, ()) for effect in effects),
        )

    return [card(cause, effects) for cause, effects in words.fold(diagnosis.findings)]


@cache
def environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(PAGE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"number": words.number, "percent": words.percent, "plural": words.plural}
    environment.globals |= {"marks": words.MARKS}
    return environment


def _catalogue() -> Sequence[Rule]:
    from paramedic.rules.catalogue import all_rules

    return all_rules()


def _markup(text: str) -> Markup:
    from markupsafe import Markup

    return Markup(text)


def _hash(text: str) -> str:
    """What the page's own security policy admits: this script and this style, nothing that slipped in."""
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _facts(run: RunFacts) -> Iterable[tuple[str, str]]:
    yield "Script", run.script
    yield "Command", run.command
    yield "Started", f"{datetime.fromtimestamp(run.started, UTC):%Y-%m-%d %H:%M} UTC" if run.started else ""
    yield "Duration", words.duration(run.seconds) if run.seconds else ""
    if run.samples is None:
        yield "Steps", f"{run.steps:,}"
        yield "Exit code", "none: still running, or killed" if run.exit_code is None else str(run.exit_code)
    yield "Processes", str(run.ranks) if run.ranks > 1 else ""
    yield "Overhead", words.cost(run)
    yield "Looked at", words.coverage(run)
    yield "Models", "\n".join(run.models)
    yield "Optimizers", "\n".join(run.optimizers)
    yield "Memory", "\n".join(run.memory)
    yield "Versions", ", ".join(f"{name} {version}" for name, version in sorted(run.versions.items()))
    yield "Record", run.record
