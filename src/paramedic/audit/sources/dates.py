"""Dates in columns of text: those written in another way than the others, and those that cannot have come yet."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars

FEWEST = 20  # cells
MOSTLY = 0.9  # of the cells are dates
FEW = 0.25  # of them may be written in another way, and not be meant to
LATER = 3.0  # ranges of the other dates, behind the last of them
YEARS = 20  # and this long: contracts and forecasts reach into the future

_REST = r"(?:[T ].*)?"
_WRITTEN = {
    "yyyy-mm-dd": re.compile(rf"(?P<y>\d{{4}})-\d\d?-\d\d?{_REST}"),
    "yyyy/mm/dd": re.compile(rf"(?P<y>\d{{4}})/\d\d?/\d\d?{_REST}"),
    "../../yyyy": re.compile(rf"\d\d?/\d\d?/(?P<y>\d{{4}}){_REST}"),
    "dd.mm.yyyy": re.compile(rf"\d\d?\.\d\d?\.(?P<y>\d{{4}}){_REST}"),
    "..-..-yyyy": re.compile(rf"\d\d?-\d\d?-(?P<y>\d{{4}}){_REST}"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Dates:
    """How the dates of a column are written, and until when they may be."""

    column: str
    way: str
    latest: int  # year

    def odd(self, cells: Sequence[Any]) -> Iterator[tuple[int, str]]:
        """(place, what is wrong)."""
        for place, cell in enumerate(cells):
            found = _read(cell)
            if found is None:
                continue
            way, year = found
            if way != self.way:
                yield place, f"{cell!r} in {self.column!r} is written {way}, the others {self.way}"
            elif year > self.latest:
                yield place, f"{cell!r} in {self.column!r} has not come yet; the others end before {self.latest + 1}"


def dates_of(column: polars.Series) -> Dates | None:
    """None where a column does not hold dates."""
    cells = [cell for cell in column.drop_nulls().to_list() if cell.strip()]
    found = [read for cell in cells if (read := _read(cell)) is not None]
    if len(cells) < FEWEST or len(found) < MOSTLY * len(cells):
        return None
    (way, most), *_ = Counter(way for way, _ in found).most_common(1)
    if len(found) - most > FEW * len(found):
        return None  # nobody can tell which of them is meant
    years = sorted(year for _, year in found)
    first, last = years[len(years) // 20], years[-1 - len(years) // 20]  # without the few that may be wrong
    latest = max(last + max(YEARS, int(LATER * (last - first))), date.today().year)
    return Dates(column=column.name, way=way, latest=latest)


def _read(cell: Any) -> tuple[str, int] | None:
    """(the way it is written, its year)."""
    word = str(cell).strip()
    found = ((way, pattern.fullmatch(word)) for way, pattern in _WRITTEN.items())
    return next(((way, int(match["y"])) for way, match in found if match is not None), None)
