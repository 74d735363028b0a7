"""The rules on a terminal and as Markdown pages: everything comes from the rule itself and its case folder."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from paramedic.findings.words import MARKS, plural
from paramedic.record.facts import Fact, all_kinds, known_as
from paramedic.record.facts.fact import meaning
from paramedic.reports import prose
from paramedic.reports.screen import Screen
from paramedic.reports.terminal import STYLES
from paramedic.rules.catalogue import FAMILIES
from paramedic.rules.coverage import Extent
from paramedic.rules.rule import Rule

NARROW_SUMMARY = 30  # columns below which a summary moves to a line of its own


def explain(rule: Rule, *, width: int = 80, color: bool = False, unicode: bool = True) -> str:
    """The rule's documentation for `paramedic explain`."""
    screen = Screen(width=width, color=color, unicode=unicode)
    mark = (f"{MARKS[rule.severity]} ", STYLES[rule.severity])
    screen.line((f"{rule.code} {rule.name}", "bold"), label=mark, indent=2, right=rule.severity)
    for heading, body in prose.sections(rule.documentation):
        if heading:
            screen.line((heading, "bold"))
        prose.to_screen(screen, body, indent=2)
        screen.blank()
    for heading, things in (("Needs", needs_in_words(rule)), ("Looks at as well", reads_in_words(rule))):
        if things:
            screen.line((heading, "bold"))
            for thing in things:
                screen.line(thing, label="  - ", indent=4)
            screen.blank()
    if rule.options:
        screen.line(("Defaults", "bold"), " (as they would stand in pyproject.toml)")
        screen.verbatim(_settings(rule), indent=4, style="cyan")
        screen.blank()
    screen.line(("Silence", "bold"), " (on the line itself, or with --ignore)")
    screen.verbatim(f"# paramedic: ignore[{rule.code}]", indent=4, style="cyan")
    return str(screen)


def needs_in_words(rule: Rule) -> list[str]:
    """What has to be there, else the rule abstains."""
    return [meaning(each) if isinstance(each, type) else each.in_words(rule.options) for each in _needed(rule)]


def reads_in_words(rule: Rule) -> list[str]:
    """What it reads beyond that, where there is any."""
    if rule.reads == "audit":
        return []
    kinds = {known.name: kind for kind, known in all_kinds().items()}
    needed = {known_as(each).name for each in _needed(rule) if isinstance(each, type)}
    return sorted(meaning(kinds[name]) if name in kinds else name for name in rule.looks_at - needed)


def _needed(rule: Rule) -> list[type[Fact] | Extent]:
    return [*rule.needs, *rule.coverage]


def table(rules: Sequence[Rule], *, width: int = 80, color: bool = False, unicode: bool = True) -> str:
    """All rules by family, for `paramedic rules`."""
    screen = Screen(width=width, color=color, unicode=unicode)
    column = max((len(rule.code) + len(rule.name) for rule in rules), default=0) + 5
    beside = screen.width - column >= NARROW_SUMMARY
    for family, members in _by_family(rules):
        screen.line((family, "bold"))
        for rule in members:
            mark = (f"{MARKS[rule.severity]} ", STYLES[rule.severity])
            head = f"{rule.code} {rule.name}"
            if beside:
                screen.line(rule.summary, label=[mark, head], indent=column)
            else:
                screen.line(head, label=mark, indent=2)
                screen.line((rule.summary, "dim"), label="    ", indent=4)
        screen.blank()
    legend = ", ".join(f"{mark} {severity}" for severity, mark in MARKS.items())
    screen.line(f"{plural(len(rules), 'rule')}: {legend}. More: paramedic explain CODE")
    return str(screen)


def markdown_page(rule: Rule, *, case: Path | None = None) -> str:
    """The page docs/rules/CODE.md; `case` is the rule's folder in cases/, whose scripts are the examples."""
    parts = [f"# {rule.code} {rule.name}", f"**{rule.severity}** · {family(rule)}", rule.documentation]
    parts += [] if "## Options" in rule.documentation else ["## Options"]
    parts.append(_option_table(rule))
    for title in ("Sick", "Healthy"):
        script = case / f"{title.lower()}.py" if case else None
        if script and script.is_file():
            parts += [f"## {title}", _fenced(script.read_text(encoding="utf-8"))]
    return "\n\n".join(parts) + "\n"


def markdown_index(rules: Sequence[Rule]) -> str:
    """The page docs/rules/index.md."""
    parts = ["# Rules", "Every rule by family. `paramedic explain CODE` shows the same pages offline."]
    for title, members in _by_family(rules):
        rows = ["| code | name | severity | it finds |", "|---|---|---|---|"]
        rows += [
            f"| [{rule.code}]({rule.code}.md) | {rule.name} | {rule.severity} | {_cell(rule.summary)} |"
            for rule in members
        ]
        parts += [f"## {title[0].upper()}{title[1:]}", "\n".join(rows)]
    return "\n\n".join(parts) + "\n"


def family(rule: Rule) -> str:
    return FAMILIES.get(rule.code[:3], f"other rules ({rule.code.rstrip('0123456789')})")


def _by_family(rules: Sequence[Rule]) -> Iterable[tuple[str, list[Rule]]]:
    groups: dict[str, list[Rule]] = {}
    for rule in rules:
        groups.setdefault(family(rule), []).append(rule)
    return groups.items()


def _option_table(rule: Rule) -> str:
    if not rule.options:
        return "This rule has no options."
    rows = ["| option | default |", "|---|---|"]
    rows += [f"| `{name}` | {_default(default)} |" for name, default in rule.options.items()]
    return "\n".join(rows) + "\n\n" + _fenced(_settings(rule), "toml")


def _default(value: Any) -> str:
    return "unset" if value is None else f"`{_cell(_toml(value))}`"


def _settings(rule: Rule) -> str:
    # TOML has no null, so an option without a default can only be shown as a comment.
    lines = [f"# {name} = ..." if value is None else f"{name} = {_toml(value)}" for name, value in rule.options.items()]
    return "\n".join([f"[tool.paramedic.rules.{rule.code}]", *lines])


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list | tuple | set | frozenset):
        return f"[{', '.join(_toml(item) for item in value)}]"
    return str(value)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _fenced(code: str, language: str = "python") -> str:
    fence = "```" if "```" not in code else "````"
    return f"{fence}{language}\n{code.strip()}\n{fence}"
