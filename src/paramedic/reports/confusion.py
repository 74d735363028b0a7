"""Which class the last evaluation answered for which label."""

from __future__ import annotations

from dataclasses import dataclass

from paramedic.findings.words import percent
from paramedic.record.facts import Confusion as Compared
from paramedic.record.reader import Run

SHADES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """How often a label got an answer."""

    count: int
    shade: int  # 0 to SHADES: the share of the label's samples


@dataclass(frozen=True, slots=True, kw_only=True)
class Confusion:
    """One evaluation: a row per label, a column per answer."""

    where: str
    step: int
    answers: tuple[int, ...]
    rows: tuple[tuple[int, tuple[Cell, ...]], ...]
    right: str


def last(run: Run) -> Confusion | None:
    """Of the last comparison of answers with labels; None where there was none, or too many classes for a table."""
    seen = [found for found in run.facts(Compared) if found.rows]
    if not seen:
        return None
    newest = seen[-1]
    table = {int(label): {int(answer): int(count) for answer, count in row} for label, row in newest.rows}
    classes = tuple(sorted({*table, *(answer for row in table.values() for answer in row)}))
    total = sum(sum(row.values()) for row in table.values())
    right = sum(row.get(label, 0) for label, row in table.items())
    return Confusion(
        where=newest.line,
        step=newest.step,
        answers=classes,
        rows=tuple((label, tuple(_cell(row.get(a, 0), row) for a in classes)) for label, row in sorted(table.items())),
        right=f"{right:,} of {total:,} right ({percent(right / total)})" if total else "",
    )


def _cell(count: int, row: dict[int, int]) -> Cell:
    share = count / max(1, sum(row.values()))
    return Cell(count=count, shade=max(1, round(SHADES * share)) if count else 0)
