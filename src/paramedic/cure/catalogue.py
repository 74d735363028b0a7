"""Find all remedies: one or a few that belong together per file of `remedies`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from paramedic.cure.edit import Edit, apply
from paramedic.cure.remedy import Remedy
from paramedic.cure.source import Source
from paramedic.findings import Finding


@cache
def all_remedies() -> tuple[Remedy, ...]:
    """Safe ones before unsafe ones."""
    import paramedic.cure.remedies as home

    found: list[Remedy] = []
    for module in pkgutil.iter_modules(home.__path__, prefix=f"{home.__name__}."):
        values = vars(importlib.import_module(module.name)).values()
        found += [value for value in values if isinstance(value, Remedy)]
    return tuple(sorted(found, key=lambda remedy: remedy.safety == "unsafe"))


def remedies_for(code: str) -> tuple[Remedy, ...]:
    return tuple(remedy for remedy in all_remedies() if code in remedy.codes)


def edits_for(finding: Finding, source: Source) -> Iterator[Edit]:
    """All candidates, the likeliest first; no two that come to the same. One remedy that fails costs no other."""
    seen: set[tuple[str, str, tuple[str, ...] | None]] = set()
    failed: Exception | None = None
    files = {source.file, *source.beside.files()}
    places = [where for where in (finding.where, *finding.also) if where.file in files]
    for remedy in remedies_for(finding.code):
        for where in places:
            home = source.in_file(where.file or source.file)
            try:
                edits = list(remedy.edits(replace(finding, where=where), home))
            except (KeyError, AttributeError, IndexError, TypeError) as error:
                failed = failed or error
                continue
            for edit in edits:
                text = apply(home.text_of(edit.file), edit.splices) if edit.file else ""
                if (edit.file, text, edit.args) not in seen:
                    seen.add((edit.file, text, edit.args))
                    yield edit
    if failed is not None and not seen:
        raise failed
