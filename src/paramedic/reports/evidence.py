"""What a finding has measured, as a person would read it: words for names, small tables for lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

from paramedic.findings import Evidence
from paramedic.findings.words import number, plural
from paramedic.frozen import dataclass

MOST_ROWS = 8
MOST_IN_LINE = 8  # plain values


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One value, or a table of them."""

    name: str
    value: str  # empty where there is a table
    table: tuple[tuple[str, ...], ...]
    more: str  # "12 more" where the table is cut
    limit: str


def measured(fact: Evidence) -> Measured:
    rows = _rows(fact.value)
    cut = len(rows) - MOST_ROWS
    return Measured(
        name=fact.name.replace("_", " "),
        value="" if rows else _in_line(fact.value),
        table=tuple(rows[:MOST_ROWS]),
        more=plural(cut, "more row") if cut > 0 else "",
        limit=fact.limit,
    )


def columns(table: Sequence[Sequence[str]]) -> list[str]:
    """The rows of a table for a terminal, cell under cell."""
    widths = [max(map(len, cells)) for cells in zip_longest(*table, fillvalue="")]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)).rstrip() for row in table]


def _rows(value: Any) -> list[tuple[str, ...]]:
    """A list of lists or a mapping as rows; plain values stay in their line."""
    if isinstance(value, Mapping):
        return [(str(key), number(item)) for key, item in value.items()]
    if not isinstance(value, list | tuple) or not value:
        return []
    if all(isinstance(item, list | tuple) and item for item in value):
        return [tuple(number(part) for part in item) for item in value]
    if all(isinstance(item, Mapping) for item in value):
        return [tuple(f"{key} {number(part)}" for key, part in item.items()) for item in value]
    return []


def _in_line(value: Any) -> str:
    if not isinstance(value, list | tuple) or len(value) <= MOST_IN_LINE:
        return number(value)
    return f"{number(value[:MOST_IN_LINE])} and {len(value) - MOST_IN_LINE:,} more"
