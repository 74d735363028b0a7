"""What is known of a DataLoader's iterator. It is kept on the iterator itself, where a look costs next to nothing."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from torch.utils.data.dataloader import _BaseDataLoaderIter

MARK = "_paramedic"
UNKNOWN = -1  # workers are given their first indices before anybody can say whose they are
MOST_UNDER_WAY = 4096  # batches


@dataclass(slots=True, eq=False)
class Iteration:
    """One pass over a loader."""

    number: int = UNKNOWN  # of the loader
    dataset: object = None
    epoch: int = 0
    indices: deque[object] = field(default_factory=deque)  # of the batches that are under way
    given: int = 0


def iteration(iterator: _BaseDataLoaderIter) -> Iteration | None:
    known: Iteration | None = vars(iterator).get(MARK)
    return known if known is not None and known.number != UNKNOWN else None


def drawn(iterator: _BaseDataLoaderIter, index: object) -> None:
    """The sampler has chosen the samples of a batch to come."""
    known = vars(iterator).get(MARK)
    if known is None:
        known = vars(iterator)[MARK] = Iteration()
    if len(known.indices) < MOST_UNDER_WAY:
        known.indices.append(index)


def begin(iterator: _BaseDataLoaderIter, number: int, dataset: object, epoch: int) -> None:
    known = vars(iterator).setdefault(MARK, Iteration())
    known.number, known.dataset, known.epoch, known.given = number, dataset, epoch, 0


def take_last(iterator: _BaseDataLoaderIter) -> object:
    """Take out what was drawn last."""
    known = iteration(iterator)
    return known.indices.pop() if known is not None and known.indices else None


def begin_anew(iterator: _BaseDataLoaderIter) -> None:
    """Persistent workers: what the last pass did not use up will never come."""
    known = vars(iterator).get(MARK) if iterator is not None else None
    if known is not None:
        known.indices.clear()
