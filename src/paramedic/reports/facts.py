"""The page docs/facts.md: every kind of fact with its fields, from the classes themselves."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import sys
from collections.abc import Iterable

from paramedic.record.facts import Fact, all_kinds, known_as

INTRODUCTION = (
    "Probes state facts, the record stores them, rules read them: `run.facts(LossCall)`. Each fact also knows `step`, "
    "`last_step`, `count`, `phase` (`setup`, `train` or `eval`), `where` (file, line, function, module), `time` and "
    "`id`. In the record (SQLite, table `events`) a fact is its kind and a JSON object under the names below, without "
    "underscores at their ends; a field that may be None is left out when it is."
)


def facts_page() -> str:
    parts = ["# Facts", "Generated from `src/paramedic/record/facts/`.", INTRODUCTION]
    shown: set[str] = set()
    for family, kinds in _by_family():
        parts.append(f"## {family[0].upper()}{family[1:]}")
        parts.append(inspect.getdoc(sys.modules[f"paramedic.record.facts.{family}"]) or "")
        for kind in kinds:
            parts += [_section(kind, f"`{known_as(kind).name}`: {kind.__name__}"), *_parts_of(kind, shown)]
    return "\n\n".join(parts) + "\n"


def _by_family() -> Iterable[tuple[str, list[type[Fact]]]]:
    families: dict[str, list[type[Fact]]] = {}
    for kind in all_kinds():
        families.setdefault(kind.__module__.rpartition(".")[2], []).append(kind)
    return sorted(families.items())


def _parts_of(kind: type[object], shown: set[str]) -> Iterable[str]:
    """The classes that its fields are made of, each once."""
    for word in _words(kind):
        part = getattr(sys.modules[kind.__module__], word, None)
        if dataclasses.is_dataclass(part) and isinstance(part, type) and word not in shown:
            shown.add(word)
            yield _section(part, word)
            yield from _parts_of(part, shown)


def _words(kind: type[object]) -> Iterable[str]:
    types = (str(field.type) for field in dataclasses.fields(kind) if field.name != "occurrence")  # type: ignore[arg-type]
    return (word for text in types for word in text.replace("[", " ").replace("]", " ").replace(",", " ").split())


def _section(kind: type[object], title: str) -> str:
    lines = [f"### {title}", "", (kind.__doc__ or "").partition("\n")[0]]
    comments = {name: text for made in reversed(kind.__mro__) for name, text in _comments(made).items()}
    rows = [
        f"| `{field.name}` | `{str(field.type).replace('|', chr(92) + '|')}` | {comments.get(field.name, '')} |"
        for field in dataclasses.fields(kind)  # type: ignore[arg-type]
        if field.name != "occurrence"
    ]
    return "\n".join([*lines, "", "| field | type | |", "|---|---|---|", *rows] if rows else lines)


def _comments(made: type[object]) -> dict[str, str]:
    """What stands behind each field in the source."""
    if not made.__module__.startswith("paramedic.record.facts."):
        return {}
    lines = inspect.getsource(sys.modules[made.__module__]).splitlines()
    tree = ast.parse("\n".join(lines))
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == made.__name__]
    fields = [node for found in classes for node in found.body if isinstance(node, ast.AnnAssign)]
    return {
        node.target.id: lines[node.lineno - 1].partition("  # ")[2]
        for node in fields
        if isinstance(node.target, ast.Name)
    }
