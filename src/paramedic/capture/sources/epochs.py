"""Passes over a DataLoader: how long training waited for it, and how long its workers took for the same batches."""

from __future__ import annotations

import functools
import mmap
import os
import struct
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from torch.utils.data import get_worker_info
from torch.utils.data._utils import fetch
from torch.utils.data.dataloader import _BaseDataLoaderIter

from paramedic.aliases import Function
from paramedic.capture.watcher import Watcher
from paramedic.record.facts import Epoch

PASSES, WORKERS = 64, 32  # passes at the same time, and workers of each, whose times can be told apart
_CELL = struct.Struct("qdd")  # batches, seconds, those of the first batch
MOST_TOLD = 200  # passes told one by one; then every doubling
LONGEST = 10.0  # seconds after which a pass that has not ended is told so far


@dataclass(slots=True)
class Pass:
    """One iterator of a DataLoader."""

    loader: int
    workers: int
    slot: int
    start: float  # seconds until the iterator, and with it its workers, existed
    began: float
    batches: int = 0
    first: float = 0.0  # seconds until its first batch came
    wait: float = 0.0  # seconds for all others
    told: float = 0.0  # when it was last told
    earlier: tuple[int, float] = (0, 0.0)  # batches and seconds of its workers in passes before this one


class Epochs:
    """Adds up waiting times here, and fetching times in the workers.

    Forked workers write what they took into memory that they share with this process; nothing else is asked of them.
    """

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._passes: weakref.WeakKeyDictionary[_BaseDataLoaderIter, Pass] = weakref.WeakKeyDictionary()
        self._shared = mmap.mmap(-1, PASSES * WORKERS * _CELL.size)
        self._slot = 0  # of the next pass; a worker inherits the value at its birth
        self._count = 0

    @contextmanager
    def starting(self, workers: int) -> Iterator[None]:
        """Workers that are born in here measure themselves; this process's own fetching is left alone."""
        kinds = (fetch._MapDatasetFetcher, fetch._IterableDatasetFetcher) if workers else ()
        before = [kind.fetch for kind in kinds]
        for kind in kinds:
            kind.fetch = self._measured(kind.fetch)
        try:
            yield
        finally:
            for kind, original in zip(kinds, before, strict=True):
                kind.fetch = original

    def _measured(self, original: Function) -> Function:
        @functools.wraps(original)
        def fetching(fetcher: object, indices: object) -> object:
            began = time.perf_counter()
            try:
                return original(fetcher, indices)
            finally:
                self._fetched(time.perf_counter() - began)

        return fetching

    def _fetched(self, seconds: float) -> None:
        """In a worker: a batch was put together."""
        worker = get_worker_info()
        if worker is not None and worker.id < WORKERS:
            offset = (self._slot * WORKERS + worker.id) * _CELL.size
            batches, total, first = _CELL.unpack_from(self._shared, offset)
            _CELL.pack_into(self._shared, offset, batches + 1, total + seconds, first if batches else seconds)

    def started(self, iterator: _BaseDataLoaderIter, loader: int, workers: int, seconds: float) -> None:
        now = time.perf_counter()
        known = self._passes.get(iterator)
        if known is not None:  # persistent workers: the same iterator again
            self._tell(known)
            known.start, known.began, known.batches, known.first, known.wait = seconds, now, 0, 0.0, 0.0
            known.earlier = self._fetched_in(known.slot)
            return
        self._passes[iterator] = Pass(loader, workers, self._slot, seconds, now - seconds, told=now)
        taken = {found.slot for found in self._passes.values()}
        self._slot = next((slot for slot in range(PASSES) if slot not in taken), PASSES - 1)
        size = WORKERS * _CELL.size
        self._shared[self._slot * size : (self._slot + 1) * size] = bytes(size)

    def waited(self, iterator: _BaseDataLoaderIter, seconds: float) -> None:
        found = self._passes.get(iterator)
        if found is None:
            return
        found.batches += 1
        if found.batches == 1:
            found.first = seconds
        else:
            found.wait += seconds
        if time.perf_counter() - found.told > LONGEST:
            self._tell(found)

    def ended(self, iterator: _BaseDataLoaderIter, seconds: float) -> None:
        found = self._passes.get(iterator)
        if found is not None:
            found.wait += seconds  # for the workers to go
            self._tell(found)
            found.batches = 0

    def finish(self) -> None:
        """The run is over: tell the passes that were under way."""
        self._count = 0
        for found in list(self._passes.values()):
            self._tell(found)

    def _tell(self, found: Pass) -> None:
        now = time.perf_counter()
        found.told = now
        self._count += 1
        if not found.batches or (self._count > MOST_TOLD and self._count & (self._count - 1)):
            return
        batches, seconds = self._fetched_in(found.slot)
        self.watcher.state(
            Epoch(
                loader=found.loader,
                workers=found.workers,
                began=found.began,
                batches=found.batches,
                seconds=now - found.began,
                start=found.start,
                first=found.first,
                wait=found.wait,
                fetched=batches - found.earlier[0],  # by the workers
                fetching=max(seconds - found.earlier[1], 0.0),
                load=_load(),
            ),
        )

    def _fetched_in(self, slot: int) -> tuple[int, float]:
        """Batches that the workers made, and seconds for as many by a process that is warm.

        The first batch of a new process is dear (nothing is in its memory yet), and that is the worker's doing, not the
        batch's: it counts like the others.
        """
        cells = [_CELL.unpack_from(self._shared, (slot * WORKERS + worker) * _CELL.size) for worker in range(WORKERS)]
        batches, seconds, first = (sum(column) for column in zip(*cells, strict=True))
        later = batches - sum(1 for cell in cells if cell[0])
        return batches, (seconds - first) * batches / later if later else seconds


def _load() -> float:
    """How many threads of the whole machine wanted to run in the last minute, per processor; 0 where nobody knows."""
    try:
        return os.getloadavg()[0] / (os.cpu_count() or 1)
    except (AttributeError, OSError):
        return 0.0
