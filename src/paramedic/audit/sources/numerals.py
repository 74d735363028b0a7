"""Columns whose numbers are written in two ways, as when half of a table was exported under another locale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars

PLAIN = r"^\s*[+-]?\d+\s*$"
POINT = r"^\s*[+-]?\d*\.\d+([eE][+-]?\d+)?\s*$"
COMMA = r"^\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*$"
THOUSANDS = r"^\s*[+-]?[1-9]\d{0,2},\d{3}\s*$"  # 1,234 may be a whole number
PERCENT = r"^\s*[+-]?\d*[.,]?\d+\s*%\s*$"
NUMBERS = 0.95  # of the cells are numbers, in one way or the other
FEWEST = 20  # cells
EACH = 3  # cells at least in either way
MOST = 200_000  # rows that are looked at
_HOW = {
    COMMA: "has a decimal comma, most others a decimal point",
    POINT: "has a decimal point, most others a decimal comma",
    PERCENT: "is in percent, most others are plain numbers",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mixed:
    """A column of numbers in two ways, and the rarer one."""

    column: str
    rarer: str  # what fits it

    @property
    def how(self) -> str:
        return _HOW[self.rarer]

    def odd(self, column: polars.Series) -> list[int]:
        """The places of cells that are written in the rarer way."""
        return [int(place) for place in column.str.contains(self.rarer).fill_null(False).arg_true()]

    def in_one_way(self, column: polars.Series) -> polars.Series:
        """As numbers that can be read."""
        return column.str.strip_chars(" %").str.replace(",", ".", literal=True)


def mixed_columns(frame: polars.LazyFrame, head: polars.DataFrame, texts: Sequence[str]) -> list[Mixed]:
    """Among these columns of text. The second way may begin far below the head of a table."""
    likely = [name for name in texts if len(head) >= FEWEST and _share(head[name], PLAIN, POINT, COMMA, PERCENT)]
    if not likely:
        return []
    table = frame.select(likely).head(MOST).collect()
    found = ((name, _rarer(table[name].drop_nulls())) for name in likely)
    return [Mixed(column=name, rarer=rarer) for name, rarer in found if rarer is not None]


def _share(column: polars.Series, *ways: str) -> bool:
    known = column.drop_nulls()
    fitting = known.str.contains("|".join(ways)).sum()
    return len(known) >= FEWEST and fitting >= NUMBERS * len(known)


def _rarer(cells: polars.Series) -> str | None:
    if not _share(cells, PLAIN, POINT, COMMA, PERCENT):
        return None
    points, commas, percents = (int(cells.str.contains(way).sum()) for way in (POINT, COMMA, PERCENT))
    if percents:
        plain = len(cells) - percents
        return PERCENT if not commas and EACH <= percents < plain else None
    if min(points, commas) < EACH or int(cells.str.contains(THOUSANDS).sum()) == commas:
        return None  # or commas part the thousands
    return COMMA if commas <= points else POINT
