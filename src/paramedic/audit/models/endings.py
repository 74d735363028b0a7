"""Is the token that ends every sequence ever a label? A collate function that masks the padding by its id may mask it,
too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from paramedic.audit.chunk import Array
from paramedic.audit.sources.arrays import to_numpy
from paramedic.audit.sources.torch_data import as_before

FEWEST, MOST = 20, 200  # samples
SHORTEST = 3  # tokens
BEFORE = 0.8  # of the samples have the token before the end as a label
IGNORED = -100


def masked_ending(loader: object, ignored: int = IGNORED) -> int | None:
    """The id that ends every sequence of a loader, and also pads them, where no label ever is that id.

    `ignored` is what the script's own loss leaves out.
    """
    if not hasattr(loader, "dataset") or not hasattr(loader, "collate_fn"):
        return None
    dataset, collate = loader.dataset, loader.collate_fn
    if collate is None or not hasattr(dataset, "__len__") or not hasattr(dataset, "__getitem__"):
        return None
    step = max(1, len(dataset) // MOST)
    try:
        with as_before():
            samples = [dataset[i] for i in range(0, len(dataset), step)][:MOST]
            rows = [row for sample in samples if (row := _tokens(sample)) is not None]
            if len(rows) < FEWEST or len(rows) < len(samples):
                return None
            alone = [_arrays(collate([sample])) for sample in samples]
            both = _arrays(collate([min(samples, key=_length), max(samples, key=_length)]))
    except Exception:
        return None  # a collate function that wants more or other samples
    ending = _ending(rows)
    if ending is None or not any(_padded_with(part, ending) for part in both):
        return None
    kept = [_ends_masked(parts, row, ending, (IGNORED, ignored)) for parts, row in zip(alone, rows, strict=True)]
    known = [one for one in kept if one is not None]
    return ending if len(known) == len(rows) and np.mean(known) >= BEFORE else None


def _ending(rows: list[Array]) -> int | None:
    """The last token, where all sequences share it and nothing else: they have no padding yet."""
    last = {int(row[-1]) for row in rows}
    inside = any(len(last) == 1 and (row[1:-1] == row[-1]).any() for row in rows)
    varied = len({len(row) for row in rows}) > 1 and len({int(row[-2]) for row in rows}) > 1
    return last.pop() if len(last) == 1 and varied and not inside else None


def _ends_masked(parts: list[Array], row: Array, ending: int, masks: tuple[int, int]) -> bool | None:
    """Whether the token before a masked end is a label; None where no part of a batch of one ends with a mask."""
    for part in parts:
        masked = np.isin(part, masks)
        if len(part) != 1 or part.shape[1] > len(row) or not masked[0, -1] or (part[~masked] == ending).any():
            continue
        left = np.flatnonzero(~masked[0])
        if len(left):
            return bool(part[0, left[-1]] == row[-2] and left[-1] == part.shape[1] - 2)
    return None


def _padded_with(part: Array, value: int) -> bool:
    """Whether one of two rows ends with this value several times, and the other does not."""
    if part.ndim != 2 or len(part) != 2:
        return False
    runs = sorted(_run(row, value) for row in part)
    return runs[0] <= 1 < runs[1]


def _run(row: Array, value: int) -> int:
    other = np.flatnonzero(row[::-1] != value)
    return int(other[0]) if len(other) else len(row)


def _tokens(sample: object) -> Array | None:
    """The only sequence of ids in a sample, or the first of several that are equal."""
    rows = [part for part in _flat(sample) if part.ndim == 1 and part.dtype.kind in "iu" and len(part) >= SHORTEST]
    return rows[0] if rows and not (rows[0] == rows[0][0]).all() else None


def _length(sample: object) -> int:
    row = _tokens(sample)
    return 0 if row is None else len(row)


def _arrays(batch: object) -> list[Array]:
    return [part for part in _flat(batch) if part.ndim == 2 and part.dtype.kind in "iu"]


def _flat(value: object) -> Iterator[Array]:
    if isinstance(value, Mapping) or hasattr(value, "items"):
        value = tuple(value[key] for key in value)  # type: ignore[index, attr-defined]
    if isinstance(value, tuple | list) and not (value and isinstance(value[0], int)):
        for part in value:
            yield from _flat(part)
    elif hasattr(value, "shape") or isinstance(value, list):
        yield np.asarray(to_numpy(value))
