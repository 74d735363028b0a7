"""Tables: polars and pandas frames, column by column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from paramedic.audit.chunk import Array, Chunk, Source, Values
from paramedic.audit.sketches.groups import names_an_owner
from paramedic.audit.sources.cells import checked
from paramedic.audit.sources.choosing import ROWS, chosen, target_name
from paramedic.errors import ParamedicError
from paramedic.findings.words import listed

if TYPE_CHECKING:
    import polars

NUMBERS = "numbers"  # the name of the input that holds all numeric columns of a table
_ROW_NAMES = ("id", "index", "idx", "uuid", "guid", "row", "rowid", "unnamed: 0", "")
FEW_ROWS = 20


def is_frame(value: object) -> bool:
    return type(value).__module__.split(".")[0] in ("polars", "pandas") and hasattr(value, "columns")


def open_frame(frame: Any, *, label: str | None, title: str, sample: int | None, like: Source | None = None) -> Source:
    pl = needed()
    if type(frame).__module__.startswith("pandas"):
        frame = pl.DataFrame({str(name): frame[name].to_numpy() for name in frame.columns})
    return open_lazy(frame.lazy(), label=label, title=title, sample=sample, like=like)


def needed() -> Any:
    try:
        import polars
    except ImportError:
        raise ParamedicError(
            "tables are read with polars, which is not installed",
            expected="the package polars",
            fix="pip install polars",
        ) from None
    return polars


def open_lazy(
    frame: polars.LazyFrame,
    *,
    label: str | None,
    title: str,
    sample: int | None,
    like: Source | None,
    folder: Path | None = None,
) -> Source:
    pl = needed()
    schema = frame.collect_schema()
    head = frame.head(1000).collect()
    size = int(frame.select(pl.len()).collect().item())
    target, guess = _target(head, label, title)
    guessed = bool(guess)
    numbering = like.left_out if like is not None else _numbering(head, target)
    if numbering:
        guess = (*guess, f"{listed(map(repr, numbering))} only number{'s' * (len(numbering) == 1)} the rows: ignored")
    kinds = {name: _kind(head[name]) for name in schema.names() if name != target and name not in numbering}
    cells = checked(frame, head, list(kinds), folder, target)
    kinds |= dict.fromkeys((*cells.numbers, *(mixed.column for mixed in cells.mixed)), "number")
    numeric = [name for name, kind in kinds.items() if kind == "number"]
    indices = chosen(size, sample)

    def read(indices: NDArray[np.int64]) -> Iterator[Chunk]:
        if not len(indices):
            return
        start, span = int(indices[0]), int(indices[-1] - indices[0] + 1)
        for piece in frame.slice(start, span).collect_batches(chunk_size=ROWS, maintain_order=True):
            numbers = np.arange(start, start + len(piece), dtype=np.int64)
            start += len(piece)
            if len(indices) < span:
                kept = np.isin(numbers, indices, assume_unique=True)
                piece, numbers = piece.filter(pl.Series(kept)), numbers[kept]
            if len(piece):
                bad = tuple(cells.bad(piece, numbers))
                for mixed in cells.mixed:
                    piece = piece.with_columns(mixed.in_one_way(piece[mixed.column]))
                ids = {name: piece[name].to_numpy() for name in numbering if name in piece.columns}
                yield replace(_chunk(piece, numbers, numeric, kinds, target), bad=bad, numbering=ids)

    def write(kept: Sequence[int], path: Path) -> None:
        _write(frame.collect()[list(kept)], path)

    return Source(
        title=title,
        kind="table",
        read_some=read,
        indices=indices,
        size=len(indices),
        features={NUMBERS: numeric},
        label=target or "",
        guessed=guessed,
        left_out=numbering,
        notices=guess,
        write=write,
    )


def _chunk(
    piece: polars.DataFrame, indices: Array, numeric: Sequence[str], kinds: dict[str, str], target: str | None
) -> Chunk:
    pl = needed()
    inputs: dict[str, Values] = {}
    if numeric:
        inputs[NUMBERS] = piece.select(pl.col(numeric).cast(pl.Float64, strict=False)).to_numpy()
    for name, kind in kinds.items():
        if kind == "text":
            inputs[name] = [_words(value) for value in piece[name].to_list()]
        elif kind == "list":
            inputs[name] = [np.asarray(value if value is not None else []) for value in piece[name].to_list()]
    owners = {name: _values(piece[name]) for name in piece.columns if names_an_owner(name) and name != target}
    return Chunk(
        indices=indices, inputs=inputs, target=None if target is None else _values(piece[target]), owners=owners
    )


def _values(column: polars.Series) -> Values:
    if column.dtype.is_nested() and str(column.dtype).startswith(("List", "Array")):
        return [np.asarray(value if value is not None else []) for value in column.to_list()]
    if column.dtype.is_numeric() or str(column.dtype) == "Boolean":
        return column.to_numpy()
    return [str(value) if value is not None else "" for value in column.to_list()]


def _numbering(head: polars.DataFrame, target: str | None) -> tuple[str, ...]:
    """Columns that only number the rows; none where nothing else would be left."""
    inputs = [name for name in head.columns if name != target]
    found = tuple(name for name in inputs if _numbers_rows(head[name]))
    return found if len(found) < len(inputs) else ()


def _numbers_rows(column: polars.Series) -> bool:
    """A name like 'id', and another value in every row: nothing that could be learnt from, and it would hide copies."""
    name = column.name.lower()
    named = name in _ROW_NAMES or name.endswith(("_id", "_uuid")) or column.name.endswith(("Id", "ID"))
    whole = column.dtype.is_integer() or str(column.dtype) == "String"
    return named and whole and len(column) >= FEW_ROWS and column.null_count() == 0 and column.n_unique() == len(column)


def _words(value: object) -> str:
    """A text as it is; of a conversation and the like, all texts in it."""
    if isinstance(value, dict):
        return " ".join(_words(inner) for inner in value.values())
    if isinstance(value, list):
        return " ".join(_words(inner) for inner in value)
    return "" if value is None else str(value)


def _kind(column: polars.Series) -> str:
    if "Struct" in str(column.dtype):
        return "text"
    if column.dtype.is_numeric() or column.dtype.is_temporal() or str(column.dtype) in ("Boolean", "Null"):
        return "number"
    return "list" if column.dtype.is_nested() else "text"


def _target(head: polars.DataFrame, label: str | None, title: str) -> tuple[str | None, tuple[str, ...]]:
    if label is not None:
        if label not in head.columns:
            raise ParamedicError(
                f"{title} has no column {label!r}",
                expected=f"one of {', '.join(head.columns[:12])}",
                fix="--label NAME",
            )
        return label, ()
    named = target_name(head.columns)
    if named is not None:
        return named, ()
    last = head.columns[-1]
    few = head[last].n_unique() <= min(20, max(2, len(head) // 4))
    values = head[last].dtype.is_nested() or (head[last].dtype.is_float() and not _whole(head[last]))
    if few and not values and len(head.columns) > 1 and head[last].null_count() < len(head) / 2:
        return last, (f"the last column, {last!r}, was used as the target (choose another with --label)",)
    return None, ("no column was used as the target (choose one with --label)",)


def _whole(column: polars.Series) -> bool:
    return bool((column.drop_nulls() == column.drop_nulls().round()).all())


def _write(frame: polars.DataFrame, path: Path) -> None:
    kind = path.suffix.lower()
    if kind == ".parquet":
        frame.write_parquet(path)
    elif kind in (".jsonl", ".ndjson"):
        frame.write_ndjson(path)
    else:
        frame.write_csv(path, separator="\t" if kind == ".tsv" else ",")
