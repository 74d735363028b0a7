"""Files of tables, which polars reads in pieces: csv, json, jsonl, parquet."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from paramedic.audit.chunk import Source
from paramedic.audit.sources.boxes import box_columns, nested_boxes, open_box_table, open_nested_boxes
from paramedic.audit.sources.delimited import dialect_of, uneven_line
from paramedic.audit.sources.frames import needed, open_lazy
from paramedic.audit.sources.vocabulary import vocabulary_beside
from paramedic.errors import ParamedicError

if TYPE_CHECKING:
    import polars

DELIMITED = (".csv", ".tsv")
LINES = (".jsonl", ".ndjson")
FORMATS = (*DELIMITED, *LINES, ".parquet")


def format_of(path: Path) -> str:
    """The ending that tells the format: of data.csv.gz it is .csv."""
    return (path.suffixes[-2] if path.suffix == ".gz" and len(path.suffixes) > 1 else path.suffix).lower()


def open_table(path: Path, *, label: str | None, sample: int | None, like: Source | None = None) -> Source:
    kind = format_of(path)
    try:
        scanned = _scan(path, kind)
        head = scanned.head(50).collect()
        if nested_boxes(head):
            return open_nested_boxes(path, scanned.collect(), sample=sample)
        boxes = box_columns(head)
        if boxes is not None:
            return open_box_table(path, scanned.collect(), boxes, sample=sample)
        found = open_lazy(scanned, label=label, title=path.name, sample=sample, like=like, folder=path.parent)
    except ParamedicError:
        raise
    except Exception as error:  # each of polars' readers has its own kinds
        raise _unreadable(path, kind, error) from None
    found = replace(found, vocabulary=vocabulary_beside(path.parent))
    if kind in DELIMITED and not dialect_of(path).utf8:
        found = replace(found, notices=(*found.notices, f"{path.name} is not in UTF-8: some letters were lost"))
    return found


def _scan(path: Path, kind: str) -> polars.LazyFrame:
    pl = needed()
    if kind == ".parquet":
        return pl.scan_parquet(path)
    if kind in LINES:
        return pl.scan_ndjson(path, infer_schema_length=1000)
    if kind == ".json":
        return pl.read_json(path, infer_schema_length=1000).lazy()
    return pl.scan_csv(path, infer_schema_length=10_000, **dialect_of(path).options())


def _unreadable(path: Path, kind: str, error: Exception) -> ParamedicError:
    expected = {".parquet": "a parquet file", ".json": "a list of JSON objects, or COCO boxes"}
    expected |= dict.fromkeys(LINES, "one JSON object per line")
    said = uneven_line(path) if kind in DELIMITED else ""
    said = said or (str(error).splitlines() or [type(error).__name__])[0]
    return ParamedicError(
        f"{path.name} cannot be read: {said}",
        expected=expected.get(kind, "a table with a line of names"),
        fix="correct that place",
    )
