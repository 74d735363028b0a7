"""What several ranks of one training show is one illness, and is told once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from paramedic.findings import SEVERITY_ORDER, Finding, Where

_NUMBER = re.compile(r"\d[\d,.]*(?:e[+-]?\d+)?")


def told_once(ranks: Iterable[Iterable[Finding]]) -> list[Finding]:
    """The findings of all ranks; of those that differ in numbers only the most serious and earliest, with the others'
    ranks."""
    alike: dict[tuple[object, ...], list[Finding]] = {}
    for findings in ranks:
        met: Counter[tuple[object, ...]] = Counter()  # one rank may have several, of layers that differ in their number
        for finding in findings:
            where = finding.where
            kind = (finding.code, where.file, where.line, where.module, _NUMBER.sub("0", finding.what))
            alike.setdefault((kind, met[kind]), []).append(finding)
            met[kind] += 1
    return [_one(group) for group in alike.values()]


def _one(group: list[Finding]) -> Finding:
    first, *rest = sorted(group, key=_seriousness)
    elsewhere = tuple(finding.where for finding in sorted(rest, key=lambda finding: finding.where.rank))
    return replace(first, also=(*first.also, *elsewhere))


def _seriousness(finding: Finding) -> tuple[int, int, int]:
    return SEVERITY_ORDER[finding.severity or "note"], finding.where.step or 0, finding.where.rank


def seen_on(finding: Finding) -> list[int]:
    """The ranks on which it was found."""
    return sorted({finding.where.rank, *(where.rank for where in finding.also if _same(where, finding.where))})


def _same(one: Where, other: Where) -> bool:
    return (one.file, one.line, one.module) == (other.file, other.line, other.module)


def elsewhere(finding: Finding) -> list[Where]:
    """The other places that belong to it."""
    return [where for where in finding.also if not _same(where, finding.where)]
