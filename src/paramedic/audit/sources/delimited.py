"""csv files as people write them: which character parts the columns, whether there is a header, which encoding."""

from __future__ import annotations

import contextlib
import csv
import gzip
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paramedic.aliases import Fields

SEPARATORS = ",;\t|"
LINES = 20  # that are looked at
_DECIMAL_COMMA = re.compile(r"-?\d+,\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How polars has to read a file."""

    separator: str
    has_header: bool
    decimal_comma: bool
    utf8: bool

    def options(self) -> Fields:
        return {
            "separator": self.separator,
            "has_header": self.has_header,
            "decimal_comma": self.decimal_comma,
            "encoding": "utf8" if self.utf8 else "utf8-lossy",
        }


def dialect_of(path: Path) -> Dialect:
    lines, utf8 = _first_lines(path)
    separator = max(SEPARATORS, key=lambda mark: _columns(lines, mark)) if lines else ","
    rows = _rows(lines, separator)
    first = rows[0] if rows else []
    numbers = [word for row in rows[1:] for word in row]
    return Dialect(
        separator=separator,
        has_header=sum(_is_number(word) for word in first) <= len(first) / 2,
        decimal_comma=separator != "," and any(_DECIMAL_COMMA.fullmatch(word.strip()) for word in numbers),
        utf8=utf8,
    )


def uneven_line(path: Path) -> str:
    """'line 7 has 4 fields, line 1 has 3', or nothing."""
    dialect = dialect_of(path)
    with _opened(path) as stream:
        reader = csv.reader((line.decode("utf-8", "replace") for line in stream), delimiter=dialect.separator)
        width = 0
        with contextlib.suppress(csv.Error):
            for row in reader:
                width = width or len(row)
                if row and len(row) != width:
                    return f"line {reader.line_num:,} has {len(row)} fields, the first line has {width}"
    return ""


def _columns(lines: Sequence[str], mark: str) -> int:
    """How many columns this mark makes, if it makes as many in every line; a comma may also stand inside numbers."""
    widths = {len(row) for row in _rows(lines, mark)}
    return widths.pop() if len(widths) == 1 else 1


def _rows(lines: Sequence[str], mark: str) -> list[list[str]]:
    """Nothing where Python finds no rows in it: what reads the whole file says what is wrong with it."""
    try:
        return list(csv.reader(lines, delimiter=mark))
    except csv.Error:
        return []


def _first_lines(path: Path) -> tuple[list[str], bool]:
    with _opened(path) as stream:
        lines = [line for line, _ in zip(stream, range(LINES), strict=False)]
        sample = b"".join(lines) + stream.read(1 << 20)
    try:
        sample.decode("utf-8")
        utf8 = True
    except UnicodeDecodeError as error:
        utf8 = error.start > len(sample) - 4  # the sample may end inside a letter
    return [line.decode("utf-8", "replace") for line in lines], utf8


def _opened(path: Path) -> Any:
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")


def _is_number(word: str) -> bool:
    try:
        float(word.strip().strip('"').replace(",", "."))
    except ValueError:
        return False
    return True
