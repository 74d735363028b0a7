"""Tensors and NumPy arrays: inputs alone, or a pair of inputs and targets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paramedic.audit.chunk import Array, Chunk, Source, Values
from paramedic.audit.sketches.kept import pick
from paramedic.audit.sources.choosing import chosen, in_pieces, rows_per_chunk
from paramedic.errors import ParamedicError


def is_array(value: object) -> bool:
    return isinstance(value, np.ndarray) or _is_tensor(value)


def is_pair(value: object) -> bool:
    """(inputs, targets) as arrays, or as lists of one length, of which the first may hold texts."""
    if not isinstance(value, tuple) or not 1 <= len(value) <= 2:
        return False
    lists = (len(value) == 2 and isinstance(value[0], list) and isinstance(value[1], list)) or is_array(value[-1])
    return is_array(value[0]) or (isinstance(value[0], list) and bool(lists))


def to_numpy(value: Any) -> Array:
    """An array of the same numbers; types that NumPy does not have become float32."""
    if isinstance(value, np.ndarray):
        return value
    if _is_tensor(value):
        plain = value.detach().cpu()
        plain = plain.to_dense() if plain.layout is not _strided(value) else plain
        return np.asarray(plain.float().numpy() if "bfloat16" in str(plain.dtype) else plain.numpy())
    return np.asarray(value)


def open_arrays(data: object, *, title: str, sample: int | None, label: str = "") -> Source:
    inputs, target = _pair(data, title)
    if target is not None and len(target) != len(inputs):
        raise ParamedicError(
            f"{len(inputs):,} inputs, but {len(target):,} targets",
            expected="one target per input",
            fix="check how the two were made: one of them has lost or gained rows",
        )
    indices = chosen(len(inputs), sample)
    rows = rows_per_chunk(1000 if isinstance(inputs, list) else inputs[:1].nbytes)

    def read(indices: NDArray[np.int64]) -> Iterator[Chunk]:
        for part in in_pieces(indices, rows):
            whole = len(part) == part[-1] - part[0] + 1
            at: Any = slice(part[0], part[-1] + 1) if whole else part  # a slice is a view, and costs nothing
            values = pick(inputs, part) if isinstance(inputs, list) else inputs[at]
            yield Chunk(indices=part, inputs={"": values}, target=None if target is None else target[at])

    def write(kept: Sequence[int], path: Path) -> None:
        at = np.asarray(kept, dtype=np.int64)
        inputs_kept = np.asarray(pick(inputs, at))
        arrays = {"x": inputs_kept} if target is None else {"x": inputs_kept, "y": target[at]}
        np.savez_compressed(path, **arrays)  # type: ignore[arg-type]

    return Source(
        title=title, kind="array", read_some=read, indices=indices, size=len(indices), label=label, write=write
    )


def _pair(data: object, title: str) -> tuple[Values, Array | None]:
    if not isinstance(data, tuple):
        return _inputs(data, title), None
    target = _rows(to_numpy(data[1]), title) if len(data) > 1 and data[1] is not None else None
    return _inputs(data[0], title), target


def _inputs(data: object, title: str) -> Values:
    """Texts stay a list; everything else is an array of numbers."""
    array = _rows(to_numpy(data), title)
    if array.dtype.kind in "OUS" and array.ndim == 1:
        return [str(text) for text in array.tolist()]
    if array.dtype.kind not in "biufc":
        raise _no_numbers(f"{title} holds values of type {array.dtype}")
    return array


def _rows(array: Array, title: str) -> Array:
    """One row per sample; points and spans of time in seconds, where NaN is one that is missing."""
    if array.ndim == 0:
        raise _no_numbers(f"{title} holds a single value")
    if array.dtype.kind in "Mm":
        seconds = array.astype(f"{array.dtype.kind}8[s]").astype(np.float64)
        return np.where(np.isnat(array), np.nan, seconds)
    return array


def _no_numbers(what: str) -> ParamedicError:
    return ParamedicError(
        what,
        expected="an array with a row of numbers, or a text, for each sample",
        fix="np.savez(file, x=inputs, y=targets)",
    )


def _is_tensor(value: object) -> bool:
    return type(value).__module__.split(".")[0] == "torch" and hasattr(value, "detach")


def _strided(value: object) -> object:
    import sys

    return sys.modules["torch"].strided
