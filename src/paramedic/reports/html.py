"""The diagnosis as one HTML file that needs no network, and no JavaScript to be read."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paramedic.findings import Diagnosis, Finding, RunFacts
from paramedic.reports import chart, prose, words

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

    from paramedic.rules.rule import Rule

PAGE = Path(__file__).parent / "page"
VERDICT_MARKS = {"sick": "✗", "healthy": "✓", "inconclusive": "?"}


def render(
    diagnosis: Diagnosis,
    *,
    rules: Sequence[Rule] | None = None,
    data: Mapping[str, Any] | None = None,
    lab: Mapping[str, Any] | None = None,
) -> str:
    """The page. The documentation shown under a finding comes from `rules`, by default the whole catalogue.

    `data` is what an audit shows of the data: see page/data.html. `lab` holds what experiments have added: a row for
    each, the sentence of their verdict, what they ruled out.
    """
    known = {rule.code: rule for rule in (_catalogue() if rules is None else rules)}
    cards = _cards(diagnosis, known)
    marked = [(card.anchor, card.finding) for cause in cards for card in (cause, *cause.effects)]
    style, script = (_markup((PAGE / name).read_text(encoding="utf-8")) for name in ("page.css", "page.js"))
    page = _environment().get_template("report.html")
    text = page.render(
        diagnosis=diagnosis,
        run=diagnosis.run,
        data=data,
        cards=cards,
        sentence=lab["sentence"] if lab else words.verdict(diagnosis),
        lab=lab,
        headline=words.headline(diagnosis),
        verdict_mark=VERDICT_MARKS[
            diagnosis.verdict if words.headline(diagnosis) == diagnosis.verdict else "inconclusive"
        ],
        facts=list(_facts(diagnosis.run)),
        chart=chart.draw(diagnosis.run.losses, marked),
        geometry=chart,
        times=[(words.PARTS.get(t.part, t.part), words.short_time(t.seconds), t.share) for t in diagnosis.run.times],
        abstained=words.by_reason(diagnosis.abstained),
        unchecked=words.unchecked(diagnosis.abstained),
        names={code: rule.name for code, rule in known.items()},
        style=style,
        script=script,
        style_hash=_hash(style),
        script_hash=_hash(script),
    )
    return text.encode("utf-8", "replace").decode()  # a file name that is not UTF-8 must not cost the report


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A finding with what the page adds to it."""

    finding: Finding
    anchor: str  # PM502, and PM502-2 for a second finding of the same rule
    spots: list[str]
    source: str
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
            spots=words.place(where, ranks=diagnosis.run.ranks),
            source=diagnosis.run.source.get(f"{where.file}:{where.line}", "").strip(),
            documentation=_markup(prose.to_html(rules[code].documentation, top=4)) if first and code in rules else None,
            effects=tuple(card(effect, ()) for effect in effects),
        )

    return [card(cause, effects) for cause, effects in words.fold(diagnosis.findings)]


@cache
def _environment() -> Environment:
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
