"""Is this file a record, whole and of this version? Asked before a single fact in it is believed.

A record may come from elsewhere, be cut short or have lost a bit on a disk: every row carries a checksum, the tables
must be exactly ours, and every column must hold what it is meant to hold.
"""

from __future__ import annotations

import json
import math
import sqlite3
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from paramedic.record.schema import TABLES

LONGEST_VALUE = 64 << 20  # bytes
LARGEST_NUMBER = 2**53
PATIENCE = 60.0  # seconds for reading one file
_TEXT = 10_000  # characters of a name


def checksum(row: Sequence[Any]) -> int:
    return zlib.crc32(repr(tuple(row)).encode("utf-8", "backslashreplace"))


def version_of(connection: sqlite3.Connection) -> object:
    """The format that the record says it has; None for one that was killed before its first write."""
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
    end = time.monotonic() + PATIENCE
    connection.set_progress_handler(lambda: time.monotonic() > end, 100_000)
    connection.execute("PRAGMA trusted_schema = OFF")
    tables = {name: sql or "" for name, sql in connection.execute("SELECT name, sql FROM sqlite_master")}
    if not tables:
        return None
    if not tables.get("meta", "").upper().startswith("CREATE TABLE META"):
        raise ValueError("it has no table 'meta'")
    found = connection.execute("SELECT value FROM meta WHERE name = 'schema_version'").fetchone()
    if found is not None:
        return json.loads(found[0])
    if "events" not in tables:
        return None  # the tables are being made
    if any(connection.execute(f"SELECT 1 FROM {name} LIMIT 1").fetchone() for name in ("meta", "events")):
        raise ValueError("it does not say which format it has")
    return None


def check(connection: sqlite3.Connection) -> None:
    """Raises ValueError, or one of sqlite's own errors, at the first thing that is not as it should be."""
    if _layout(connection) != _our_layout():
        raise ValueError("its tables are not those of a record")
    (verdict,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if verdict != "ok":
        raise ValueError(str(verdict).replace("\n", " ")[:200])
    for table, columns in _COLUMNS.items():
        for *row, crc in connection.execute(f"SELECT * FROM {table}"):
            if checksum(row) != crc:
                raise ValueError(f"a row of {table!r} is not as it was written")
            for value, is_right in zip(row, columns, strict=True):
                if not is_right(value):
                    raise ValueError(f"a row of {table!r} holds what does not belong there")
    _check_meta(dict(connection.execute("SELECT name, value FROM meta")))
    connection.set_progress_handler(None, 0)


def _layout(connection: sqlite3.Connection) -> list[tuple[Any, ...]]:
    return connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name").fetchall()


@cache
def _our_layout() -> list[tuple[Any, ...]]:
    memory = sqlite3.connect(":memory:")
    memory.executescript(TABLES)
    found = _layout(memory)
    memory.close()
    return found


# What may stand where -------------------------------------------------------------------------------------------------

_Check = Callable[[Any], bool]


def _number(value: Any) -> bool:
    return type(value) is int and 0 <= value < LARGEST_NUMBER


def _step(value: Any) -> bool:
    return type(value) is int and -1 <= value < LARGEST_NUMBER  # what happened before the first step is at -1 at times


def _moment(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value < 1e11


def _name(value: Any) -> bool:
    return type(value) is str and len(value) <= _TEXT


def _json(value: Any) -> bool:
    json.loads(value)  # raises ValueError
    return True


def _table(value: Any) -> bool:
    return isinstance(json.loads(value), dict)


def _names(value: Any) -> bool:
    found = json.loads(value)
    return isinstance(found, list) and all(map(_name, found))


def _measured(value: Any) -> bool:
    return type(json.loads(value)) in (int, float)


def _or_none(check: _Check) -> _Check:
    return lambda value: value is None or check(value)


_COLUMNS: Mapping[str, Sequence[_Check]] = {
    "meta": (_name, _json),
    "events": (
        _number, _name, _moment, _step, _step, _number,
        lambda phase: phase in ("setup", "train", "eval"), _or_none(_name), _or_none(_number), _or_none(_name),
        _or_none(_name), _table,
    ),
    "points": (_name, _step, _measured),
    "names": (_number, _names),
    "samples": (_step, _name, _number, lambda rows: type(rows) is bytes),
}  # fmt: skip


def _check_meta(found: Mapping[str, str]) -> None:
    for name, is_right in _META.items():
        if name in found and not is_right(json.loads(found[name])):
            raise ValueError(f"its {name!r} is not one")


def _words(value: Any) -> bool:
    return isinstance(value, str)


def _share(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


_META: Mapping[str, _Check] = {
    "started": _moment,
    "joined": _moment,
    "seconds": _moment,
    "overhead": _or_none(_share),
    "steps": _number,
    "dropped": _number,
    "pid": _number,
    "rank": _number,
    "world_size": _number,
    "exit_code": _or_none(lambda code: type(code) is int and abs(code) < 2**31),
    "script": _words,
    "command": _words,
    "cwd": _words,
    "meeting": _words,
    "sources": lambda lines: isinstance(lines, dict) and all(map(_words, lines.values())),
    "code": lambda files: isinstance(files, dict) and all(map(_words, files.values())),
    "commit": _or_none(_words),
    "versions": lambda versions: isinstance(versions, dict) and all(map(_words, versions.values())),
    "coverage": lambda counts: isinstance(counts, dict) and all(map(_number, counts.values())),
}
