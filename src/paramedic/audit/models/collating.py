"""Does a collate function keep what belongs together? The same samples, put together one by one and as a batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from paramedic.audit.chunk import Array
from paramedic.audit.sources.arrays import to_numpy
from paramedic.audit.sources.torch_data import as_before

SAMPLES = 24
FEWEST = 8
CERTAIN = 0.9  # of the rows, that are known again


class Torn(NamedTuple):
    """A part of the batch whose rows stand in another order than those of another part."""

    part: str
    other: str
    rows: int  # that do not belong together
    of: int


def torn_apart(loader: Any) -> Torn | None:
    """None where the parts of a batch agree, or cannot be known again (mixed or changed at random)."""
    collate, dataset = loader.collate_fn, loader.dataset
    if getattr(collate, "__name__", "") == "default_collate" or not hasattr(dataset, "__getitem__"):
        return None
    try:
        with as_before():
            samples = [dataset[i] for i in range(min(SAMPLES, len(dataset)))]
            batch = _parts(collate(samples))
            alone = [_parts(collate([sample])) for sample in samples]
    except Exception:
        return None  # a collate function that wants more or other samples
    if len(samples) < FEWEST or any(one.keys() != batch.keys() for one in alone):
        return None
    if any(_is_order(part, len(samples)) for part in batch.values()):
        return None  # by which the model puts them back
    orders = {name: order for name in batch if (order := _order(batch[name], [one[name] for one in alone])) is not None}
    for name, order in orders.items():
        for other in batch:
            rows = _apart(order, batch[other], [one[other] for one in alone])
            kept = _apart(np.arange(len(samples)), batch[other], [one[other] for one in alone])
            if other != name and rows and kept == 0:  # the other part is as it was, and its partner is not
                return Torn(name, other, rows, len(samples))
    return None


def _is_order(part: Array, count: int) -> bool:
    return part.shape == (count,) and part.dtype.kind in "iu" and sorted(part.tolist()) == list(range(count))


def _parts(batch: object) -> dict[str, Array]:
    """The arrays of a batch by their place."""
    if isinstance(batch, Mapping):
        items = [(str(key), value) for key, value in batch.items()]
    else:
        items = [(f"part {i + 1}", value) for i, value in enumerate(batch if isinstance(batch, tuple | list) else ())]
    return {name: to_numpy(value) for name, value in items if hasattr(value, "shape") and len(value.shape)}


def _order(rows: Array, alone: list[Array]) -> Array | None:
    """Which sample each row of the batch is, where nearly all are known again, each as one sample only."""
    if len(rows) != len(alone):
        return None
    found = []
    for row in rows:
        fitting = [i for i, one in enumerate(alone) if len(one) == 1 and _same(row, one[0])]
        found.append(fitting[0] if len(fitting) == 1 else -1)
    order = np.asarray(found)
    return order if (order >= 0).mean() >= CERTAIN else None


def _apart(order: Array, rows: Array, alone: list[Array]) -> int:
    """Rows that are not what the sample holds that stands there by this order."""
    if len(rows) != len(alone) or any(len(one) != 1 for one in alone):
        return 0
    return sum(i >= 0 and not _same(rows[r], alone[i][0]) for r, i in enumerate(order.tolist()))


def _same(row: Array, one: Array) -> bool:
    """Equal but for padding at the end, which is the same everywhere."""
    if row.ndim != one.ndim or any(a < b for a, b in zip(row.shape, one.shape, strict=True)):
        return False
    inside = tuple(slice(0, length) for length in one.shape)
    if not np.array_equal(row[inside], one):
        return False
    rest = np.ones(row.shape, dtype=bool)
    rest[inside] = False
    return len(np.unique(row[rest])) <= 1
