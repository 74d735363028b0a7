"""Cells of a table that cannot be used: words among numbers, missing files, odd dates, lists of another length."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from paramedic.audit.chunk import BadSample
from paramedic.audit.sources.dates import Dates, dates_of
from paramedic.audit.sources.images import ENDINGS
from paramedic.audit.sources.numerals import Mixed, mixed_columns

if TYPE_CHECKING:
    import polars

FEWEST = 20  # cells
MOSTLY = 0.95  # of the cells are numbers, or of the names end as those of files
FEWEST_LENGTHS = 3  # different ones, of lists that belong together
FOUND = 0.5  # of the files must be there: otherwise they lie where nobody looked
FILES = (*ENDINGS, ".wav", ".mp3", ".flac", ".ogg", ".npy", ".npz", ".pt", ".mp4", ".avi", ".txt", ".xml")
_HOUSE_NUMBER = re.compile(r"\s*\d+\s*[a-zA-Z]\s*")  # 12a: such columns are names


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """Columns whose cells are looked at one by one."""

    numbers: Sequence[str] = ()  # read as text because of a few cells
    mixed: Sequence[Mixed] = ()  # read as text because their numbers are written in two ways
    files: Sequence[tuple[str, Path]] = ()  # each with the folder that its names start from
    dates: Sequence[Dates] = ()
    paired: Sequence[tuple[str, str]] = ()  # lists that belong together item by item, as words and their tags

    def bad(self, piece: polars.DataFrame, indices: NDArray[np.int64]) -> Iterator[BadSample]:
        for name in self.numbers:
            for place in _words(piece[name]):
                index, cell = int(indices[place]), str(piece[name][place])
                yield BadSample(
                    index=index, column=name, error=f"ValueError: {cell[:40]!r} in {name!r} is not a number"
                )
        for mixed in self.mixed:
            for place in mixed.odd(piece[mixed.column]):
                error = f"ValueError: {str(piece[mixed.column][place])[:40]!r} in {mixed.column!r} {mixed.how}"
                yield BadSample(index=int(indices[place]), column=mixed.column, error=error)
        for name, folder in self.files:
            for place, cell in enumerate(piece[name].to_list()):
                if cell and not (folder / cell).exists():
                    error = f"FileNotFoundError: {cell!r} in {name!r} is not there"
                    yield BadSample(index=int(indices[place]), name=cell, column=name, error=error)
        for dates in self.dates:
            for place, error in dates.odd(piece[dates.column].to_list()):
                yield BadSample(index=int(indices[place]), column=dates.column, error=f"ValueError: {error}")
        for name, other in self.paired:
            ours, theirs = piece[name].list.len(), piece[other].list.len()
            for place in (ours != theirs).arg_true().to_list():
                error = f"ValueError: {ours[place]} values in {name!r}, but {theirs[place]} in {other!r}"
                yield BadSample(index=int(indices[place]), column=name, error=error)


def checked(
    frame: polars.LazyFrame, head: polars.DataFrame, columns: Sequence[str], folder: Path | None, target: str | None
) -> Checked:
    """Which columns of these to look at; `folder` is where the table lies, if it is a file."""
    texts = [name for name in columns if str(head[name].dtype) == "String"]
    numbers = [name for name in texts if _mostly_numbers(head[name])]
    mixed = mixed_columns(frame, head, [name for name in texts if name not in numbers])
    files = [
        (name, found) for name in texts if folder is not None and (found := _start(head[name], folder)) is not None
    ]
    dates = [way for name in texts if (way := dates_of(head[name])) is not None]
    return Checked(numbers=numbers, mixed=mixed, files=files, dates=dates, paired=_paired(head, columns, target))


def _words(column: polars.Series) -> list[int]:
    """The places of cells that hold something, but no number."""
    from paramedic.audit.sources.frames import needed

    pl = needed()
    parsed = column.cast(pl.Float64, strict=False)
    hit = parsed.is_null() & column.is_not_null() & (column.str.strip_chars() != "")
    return [int(place) for place in hit.arg_true()]


def _mostly_numbers(column: polars.Series) -> bool:
    known = column.drop_nulls()
    wrong = [known[place] for place in _words(known)]
    few = len(known) >= FEWEST and 0 < len(wrong) <= (1 - MOSTLY) * len(known)
    return few and not all(_HOUSE_NUMBER.fullmatch(cell) for cell in wrong)


def _paired(head: polars.DataFrame, columns: Sequence[str], target: str | None) -> list[tuple[str, str]]:
    """Lists beside a list of words as targets that have its length nearly everywhere; of numbers, sketches know it."""
    if target is None or not str(head[target].dtype).startswith("List(String"):
        return []
    theirs = head[target].list.len()
    lists = [name for name in columns if str(head[name].dtype).startswith("List")]
    equal = {name: float((head[name].list.len() == theirs).mean() or 0.0) for name in lists}
    varied = theirs.n_unique() >= FEWEST_LENGTHS and len(head) >= FEWEST
    return [(name, target) for name, share in equal.items() if varied and share >= MOSTLY]


def _start(column: polars.Series, folder: Path) -> Path | None:
    """The folder that the names of files in a column start from; None where it holds no such names."""
    names = [name for name in column.drop_nulls().to_list() if name][:200]
    if len(names) < FEWEST or sum(name.lower().endswith(FILES) for name in names) < MOSTLY * len(names):
        return None
    for start in (folder, Path.cwd(), folder.parent, *(child for child in sorted(folder.iterdir()) if child.is_dir())):
        if sum((start / name).exists() for name in names) > FOUND * len(names):
            return start
    return None
