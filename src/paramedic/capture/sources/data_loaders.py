"""DataLoaders: how they sample, and what their batches hold."""

from __future__ import annotations

import re
import time
from collections import Counter

import torch
from torch.utils import data as torch_data
from torch.utils.data.dataloader import DataLoader, _BaseDataLoaderIter

from paramedic.aliases import Function
from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.failures import raised_at, raised_in_reader, sample_in_traceback
from paramedic.capture.nearby import brought_near
from paramedic.capture.sources.batch_facts import MOST_ROWS, BatchFacts
from paramedic.capture.sources.batch_in_sight import MOST_TENSORS, BatchInSight
from paramedic.capture.sources.clock import DATA, Clock
from paramedic.capture.sources.datasets import reader_site
from paramedic.capture.sources.epochs import Epochs
from paramedic.capture.sources.iterations import Iteration, begin, begin_anew, drawn, iteration, take_last
from paramedic.capture.sources.known_loaders import KnownLoaders
from paramedic.capture.sources.samples import Samples
from paramedic.capture.watcher import Watcher
from paramedic.errors import message_of
from paramedic.program.tensors import tensors_in
from paramedic.program.untouched import integers
from paramedic.record.facts import BadSample

BATCHES_PER_LOADER = 8  # described; then every doubling
EPOCHS_DESCRIBED = 20


class DataLoaders:
    """Watches the batches that reach the training script; worker processes are left alone."""

    def __init__(self, watcher: Watcher, clock: Clock) -> None:
        self.watcher = watcher
        self.clock = clock
        self.known = KnownLoaders(watcher)
        self.epochs = Epochs(watcher)
        self.current: int | None = None  # the loader that gave the last batch
        self._pass: Iteration | None = None  # and its pass over the data
        self._skipped: tuple[_BaseDataLoaderIter, object] | None = (
            None  # while skipping: the last batch's origin, and it
        )
        self._given: dict[int, int] = {}
        self._epochs: Counter[int] = Counter()
        self.samples = Samples(watcher)
        self._facts = BatchFacts(watcher)
        self._batch = BatchInSight(self._facts, self.known.sites)

    def install(self) -> None:
        patches = self.watcher.patches
        self.watcher.gears.on_watch_again.append(self._let_go)
        for kind in (DataLoader, torch_data.WeightedRandomSampler, torch_data.SubsetRandomSampler):
            patches.follow(kind, "__init__", lambda made: self.watcher.ask("data_loaders", self.known.born, made))
        patches.wrap(DataLoader, "__iter__", self._watched_iter)
        patches.wrap(_BaseDataLoaderIter, "_next_index", _watched_index)
        patches.wrap(_BaseDataLoaderIter, "__next__", self._watched_next)

    def _watched_iter(self, original: Function) -> Function:
        def iterate(loader: DataLoader) -> object:
            self.clock.started_epoch()
            self.watcher.gears.end_skipping()
            begin_anew(getattr(loader, "_iterator", None))
            began = time.perf_counter()
            with self.epochs.starting(getattr(loader, "num_workers", 0)):
                iterator = self.clock.timed(DATA, original, loader)
            self.watcher.ask("data_loaders", self._started, loader, iterator, time.perf_counter() - began)
            return iterator

        return iterate

    def _watched_next(self, original: Function) -> Function:
        watcher = self.watcher

        def following(iterator: _BaseDataLoaderIter) -> object:
            known = iteration(iterator)
            try:
                if watcher.gears.skipping:
                    batch = original(iterator)
                    self._skipped = (iterator, batch)
                    return batch
                if known is None or (self.clock.idle and not iterator._num_workers and torch.is_grad_enabled()):
                    batch, seconds = original(iterator), 0.0
                else:
                    batch, seconds = self._timed_batch(iterator, known.number, original)
            except StopIteration:
                watcher.ask("data_loaders", self._ended, iterator)
                raise
            except Exception as error:
                self._end_skipping(iterator)
                watcher.ask("data_loaders", self._failed, iterator, error)
                raise
            if watcher.gears.matching:
                self._quick_check(iterator, batch)
            else:
                watcher.ask("data_loaders", self._gave, iterator, batch)
            if seconds:
                self.epochs.waited(iterator, seconds)
            return batch

        return following

    def _started(self, loader: DataLoader, iterator: _BaseDataLoaderIter, seconds: float) -> None:
        number = self.known.number_of(loader)
        self.samples.started(number, loader)
        self.watcher.bus.tell(moments.pass_began, number, loader)
        begin(iterator, number, loader.dataset, self._epochs[number])
        self._epochs[number] += 1
        self.epochs.started(iterator, number, loader.num_workers, seconds)
        self.known.started_workers(number, iterator)

    def _ended(self, iterator: _BaseDataLoaderIter) -> None:
        known = iteration(iterator)
        if known is not None and known.epoch & (known.epoch + 1) == 0:  # after the 1st, 2nd, 4th, 8th … pass
            self.samples.tell(known.number)

    def _failed(self, iterator: _BaseDataLoaderIter, error: Exception) -> None:
        """A sample could not be made, or not be put into a batch with the others."""
        known = iteration(iterator)
        if known is None:
            return
        index = known.indices[0] if known.indices else None
        text = message_of(error)
        entry = re.search(r"at entry 0 and .* at entry (\d+)", text)
        place = int(entry.group(1)) if entry else sample_in_traceback(error, index)
        indices = integers(index) or []
        data = BadSample(
            loader=known.number,
            type=type(error).__name__,
            message=text.strip().splitlines()[-1][:300] if text.strip() else "",
            samples=indices[:MOST_ROWS],
            sample=indices[place] if place is not None and place < len(indices) else None,
            collate=entry is not None,
            reader=reader_site(known.dataset),
            in_reader=entry is not None or raised_in_reader(error, known.dataset),
        )
        self.watcher.state(data, site=raised_at(error))

    def _timed_batch(self, iterator: _BaseDataLoaderIter, number: int, fetch: Function) -> tuple[object, float]:
        """The next batch, and how long it took; the end of an epoch is noticed as well."""
        if self.watcher.gears.matching and not torch.is_grad_enabled():
            # An evaluation begins, and its losses are worth seeing.
            self.watcher.ask("data_loaders", self.watcher.gears.watch_again)
        began = time.perf_counter()
        try:
            batch = self.clock.next_batch(number, fetch, iterator)
        except StopIteration:
            self.watcher.ask("data_loaders", self.epochs.ended, iterator, time.perf_counter() - began)
            raise
        return batch, time.perf_counter() - began

    def _quick_check(self, iterator: _BaseDataLoaderIter, batch: object) -> None:
        """While matching: count the batch, and hold it until the next one in case it is the one that fails."""
        self._pass = known = iteration(iterator)
        if known is not None:
            self.current = known.number
            count = self._given[self.current] = self._given.get(self.current, 0) + 1
            index = known.indices.popleft() if known.indices else None
            self._batch.hold(self.current, count - 1, batch, index)
            if known.given == 0 and known.epoch < EPOCHS_DESCRIBED:
                self.watcher.ask("data_loaders", self._describe_first, known, count - 1, batch, index)
            known.given += 1
            if known.epoch == 0:
                self.samples.gave(known.number, known.dataset, index)

    def may_skip(self) -> bool:
        """Of the first pass all samples are counted, and workers are handed theirs long before they are needed."""
        known = self._pass
        return known is None or (known.epoch > 0 and not self.known.has_workers(known.number))

    def _end_skipping(self, iterator: _BaseDataLoaderIter) -> None:
        """A batch could not be made: what was drawn for it belongs to no other."""
        if self.watcher.gears.skipping:
            failing = take_last(iterator)
            self.watcher.gears.end_skipping()
            drawn(iterator, failing)

    def skipping_ended(self) -> None:
        """Batches went by unseen: they count as well, and the last one may be the one that fails."""
        skipped, self._skipped = self._skipped, None
        known = iteration(skipped[0]) if skipped is not None else None
        if skipped is not None and known is not None:
            missed = max(0, skipped[0]._num_yielded - known.given)
            known.given += missed
            count = self._given[known.number] = self._given.get(known.number, 0) + missed
            index = known.indices[-1] if known.indices else None
            known.indices.clear()
            self._batch.hold(known.number, count - 1, skipped[1], index)

    def _describe_first(self, known: Iteration, position: int, batch: object, index: object) -> None:
        """The first batch of an epoch: an evaluation should see the same every time, and a training should not."""
        self.watcher.bus.tell(moments.first_batch_given, known.number, known.epoch, index)
        tensors = list(tensors_in(batch))[:MOST_TENSORS]
        self._facts.describe(known.number, position, tensors, epoch=known.epoch, place=0)

    def _let_go(self) -> None:
        """Matching is over."""
        self.watcher.gears.end_skipping()
        self._batch.let_go()

    def _gave(self, iterator: _BaseDataLoaderIter, batch: object) -> None:
        known = iteration(iterator)
        if known is None:
            return
        number, index = known.number, known.indices.popleft() if known.indices else None
        place = known.given
        known.given += 1
        self.current = number
        self.watcher.bus.tell(moments.batch_arrived)
        count = self._given[number] = self._given.get(number, 0) + 1
        tensors = list(tensors_in(batch))[:MOST_TENSORS]
        seen = self._batch.keep(number, count - 1, tensors, index)
        shapes = [list(tensor.shape) for _, tensor in tensors[:4] if not tensor.is_nested]
        self.watcher.bus.tell(moments.batch_shapes, shapes, self.clock.evaluating)
        self.watcher.bus.tell(moments.batch_given, seen.shapes)
        if self.watcher.gears.affordable():
            self._facts.look_for_bad_values(number, count - 1, brought_near(self.watcher, tensors), index)
            self.samples.look_at(number, [tensor for _, tensor in tensors], place)
        self.samples.gave(number, known.dataset, index)
        if place == 0:
            self.watcher.bus.tell(moments.first_batch_given, number, known.epoch, index)
        # The first batch of each epoch is described, too: an evaluation should see the same every time.
        if count <= BATCHES_PER_LOADER or count & (count - 1) == 0 or (place == 0 and known.epoch < EPOCHS_DESCRIBED):
            self._facts.describe(number, count - 1, tensors, epoch=known.epoch, place=place)

    def given(self) -> int:
        """How many batches have reached the script."""
        return sum(self._given.values())

    def last_batch(self) -> BatchInSight:
        """What is known of the last one."""
        self._let_go()
        return self._batch

    def last_padding(self) -> float | None:
        """How much of the last batch is padding, as far as it is still there; asked amid a step."""
        return self._batch.padding()

    @on(moments.run_over)
    def _run_over(self) -> None:
        self.samples.tell()
        self.epochs.finish()

    @on(moments.run_failed)
    def _run_failed(self, error: BaseException) -> None:
        self.last_batch().tell()

    @on(moments.bad_loss)
    def _bad_loss(self) -> None:
        self.last_batch().tell(describe=False)


def _watched_index(original: Function) -> Function:
    def next_index(iterator: _BaseDataLoaderIter) -> object:
        index = original(iterator)
        drawn(iterator, index)
        return index

    return next_index
