"""DataLoaders: how they sample, and what their batches hold."""

from __future__ import annotations

import re
import time
import weakref
from collections import Counter
from collections.abc import Callable
from typing import Any

import torch
from torch.utils import data as torch_data
from torch.utils.data.dataloader import DataLoader, _BaseDataLoaderIter

from paramedic.capture import moments
from paramedic.capture.boxes import boxes
from paramedic.capture.bus import on
from paramedic.capture.facts import LARGE, VALUE_NAMES, content_hash, describe, readable, values
from paramedic.capture.failures import raised_at, raised_in_reader, sample_in_traceback
from paramedic.capture.nearby import brought_near, nearby
from paramedic.capture.padding import padding_share
from paramedic.capture.sources.batch import BuiltLoader, LastBatch, shapes_of
from paramedic.capture.sources.clock import DATA, Clock
from paramedic.capture.sources.datasets import reader_site
from paramedic.capture.sources.epochs import Epochs
from paramedic.capture.sources.iterations import Iteration, begin, begin_anew, drawn, iteration, take_last
from paramedic.capture.sources.loader_settings import described
from paramedic.capture.sources.numbering import Numbering
from paramedic.capture.sources.samples import Samples
from paramedic.capture.watcher import Watcher
from paramedic.errors import message_of
from paramedic.program.tensors import tensors_in
from paramedic.program.untouched import Notes, integers
from paramedic.program.where import built_at, user_site
from paramedic.record.facts import BadInput, BadSample, Batch, Values
from paramedic.record.writer import NOWHERE, Site

BATCHES_PER_LOADER = 8  # described; then every doubling
MOST_ROWS = 20
EPOCHS_DESCRIBED = 20


class DataLoaders:
    """Watches the batches that reach the training script; worker processes are left alone."""

    def __init__(self, watcher: Watcher, clock: Clock) -> None:
        self.watcher = watcher
        self.clock = clock
        self.epochs = Epochs(watcher)
        self.current: int | None = None  # the loader that gave the last batch
        self._pass: Iteration | None = None  # and its pass over the data
        self._skipped: tuple[Any, Any] | None = None  # the last batch while skipping, and where it came from
        self._numbers = Numbering()
        self._births: Notes[Site] = Notes()  # of loaders and samplers
        self._given: dict[int, int] = {}
        self._epochs: Counter[int] = Counter()
        self.samples = Samples(watcher)
        self._sites: dict[int, Site] = {}
        self._workers: dict[int, dict[int, str]] = {}  # process ids, by loader
        self._seen: LastBatch | None = None  # the last batch, in words
        self.margins: dict[int | None, torch.Tensor] = {}  # by loader; filled by a probe of their own
        self.kept: list[Any] = []  # all loaders, where they are wanted when the script is over
        self._held: tuple[int, int, Any, Any] | None = None  # the last batch, while matching
        self._last: tuple[int, int, list[tuple[str, weakref.ref[torch.Tensor]]], Any] | None = None

    def install(self) -> None:
        watcher = self.watcher

        def watched_init(original: Any) -> Any:
            def init(made: Any, *args: Any, **kwargs: Any) -> None:
                original(made, *args, **kwargs)
                watcher.ask("data_loaders", self._born, made)

            return init

        def watched_iter(original: Any) -> Any:
            def iterate(loader: Any) -> Any:
                self.clock.started_epoch()
                watcher.end_skipping()
                begin_anew(getattr(loader, "_iterator", None))
                began = time.perf_counter()
                with self.epochs.starting(getattr(loader, "num_workers", 0)):
                    iterator = self.clock.timed(DATA, original, loader)
                watcher.ask("data_loaders", self._started, loader, iterator, time.perf_counter() - began)
                return iterator

            return iterate

        def watched_index(original: Any) -> Any:
            def next_index(iterator: Any) -> Any:
                index = original(iterator)
                drawn(iterator, index)
                return index

            return next_index

        def watched_next(original: Any) -> Any:
            def following(iterator: Any) -> Any:
                known = iteration(iterator)
                try:
                    if watcher.skipping:
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
                if watcher.matching:
                    self._quick_check(iterator, batch)
                else:
                    watcher.ask("data_loaders", self._gave, iterator, batch)
                if seconds:
                    self.epochs.waited(iterator, seconds)
                return batch

            return following

        watcher.on_watch_again.append(self._let_go)
        for kind in (DataLoader, torch_data.WeightedRandomSampler, torch_data.SubsetRandomSampler):
            watcher.patches.wrap(kind, "__init__", watched_init)
        watcher.patches.wrap(DataLoader, "__iter__", watched_iter)
        watcher.patches.wrap(_BaseDataLoaderIter, "_next_index", watched_index)
        watcher.patches.wrap(_BaseDataLoaderIter, "__next__", watched_next)

    def _born(self, made: Any) -> None:
        self._births[made] = built_at(made)
        if self.watcher.settings.audit and isinstance(made, DataLoader):
            self.kept.append(made)

    def built(self) -> list[BuiltLoader]:
        """Every loader that was kept, in the order in which they were built."""
        found = [(loader, self._numbers.get(loader), self._births.get(loader, NOWHERE)) for loader in self.kept]
        return [BuiltLoader(*known, self.margins.get(known[1])) for known in found]

    def _started(self, loader: Any, iterator: Any, seconds: float) -> None:
        number = self._numbers.get(loader)
        if number is None:
            site = self._births.get(loader, NOWHERE)
            number = self._numbers.add(loader, site)
            if number not in self._sites:
                self._sites[number] = site
                self._describe(loader, number)
                self.watcher.bus.tell(moments.loader_met, number, loader)
                self.watcher.news(0)
        self.samples.started(number, loader)
        self.watcher.bus.tell(moments.pass_began, number, loader)
        begin(iterator, number, loader.dataset, self._epochs[number])
        self._epochs[number] += 1
        of_loader = f" of loader {number}" if number else ""
        started = enumerate(getattr(iterator, "_workers", ()))
        self.epochs.started(iterator, number, loader.num_workers, seconds)
        self._workers[number] = {worker.pid: f"worker {index}{of_loader}" for index, worker in started}

    def workers(self) -> dict[int, str]:
        """The worker processes started last, by process id; asked from another thread."""
        return {pid: name for started in list(self._workers.values()) for pid, name in started.items()}

    def _ended(self, iterator: Any) -> None:
        known = iteration(iterator)
        if known is not None and known.epoch & (known.epoch + 1) == 0:  # after the 1st, 2nd, 4th, 8th … pass
            self.samples.tell(known.number)

    def _failed(self, iterator: Any, error: Exception) -> None:
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

    def _describe(self, loader: Any, number: int) -> None:
        fact = described(loader, number, sampler_at=self._births.get(loader.sampler))
        self.watcher.state(fact, site=self._births.get(loader, user_site()), phase="setup")

    def _timed_batch(self, iterator: Any, number: int, fetch: Callable[[Any], Any]) -> tuple[Any, float]:
        """The next batch, and how long it took; the end of an epoch is noticed as well."""
        if self.watcher.matching and not torch.is_grad_enabled():
            # An evaluation begins, and its losses are worth seeing.
            self.watcher.ask("data_loaders", self.watcher.watch_again)
        began = time.perf_counter()
        try:
            batch = self.clock.next_batch(number, fetch, iterator)
        except StopIteration:
            self.watcher.ask("data_loaders", self.epochs.ended, iterator, time.perf_counter() - began)
            raise
        return batch, time.perf_counter() - began

    def _quick_check(self, iterator: Any, batch: Any) -> None:
        """While matching: count the batch, and hold it until the next one in case it is the one that fails."""
        self._pass = known = iteration(iterator)
        if known is not None:
            self.current = known.number
            count = self._given[self.current] = self._given.get(self.current, 0) + 1
            index = known.indices.popleft() if known.indices else None
            self._held = (self.current, count - 1, batch, index)
            if known.given == 0 and known.epoch < EPOCHS_DESCRIBED:
                self.watcher.ask("data_loaders", self._describe_first, known, count - 1, batch, index)
            known.given += 1
            if known.epoch == 0:
                self.samples.gave(known.number, known.dataset, index)

    def may_skip(self) -> bool:
        """Of the first pass all samples are counted, and workers are handed theirs long before they are needed."""
        known = self._pass
        return known is None or (known.epoch > 0 and not self._workers.get(known.number))

    def _end_skipping(self, iterator: Any) -> None:
        """A batch could not be made: what was drawn for it belongs to no other."""
        if self.watcher.skipping:
            failing = take_last(iterator)
            self.watcher.end_skipping()
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
            self._held = (known.number, count - 1, skipped[1], index)

    def _describe_first(self, known: Iteration, position: int, batch: Any, index: Any) -> None:
        """The first batch of an epoch: an evaluation should see the same every time, and a training should not."""
        self.watcher.bus.tell(moments.first_batch_given, known.number, known.epoch, index)
        self._describe_batch(known.number, position, list(tensors_in(batch))[:16], epoch=known.epoch, place=0)

    def _let_go(self) -> None:
        """Matching is over: keep in sight what it held."""
        self.watcher.end_skipping()
        if self._held is not None:
            number, position, batch, index = self._held
            tensors = list(tensors_in(batch))[:16]
            self._last = (number, position, [(path, weakref.ref(tensor)) for path, tensor in tensors], index)
            self._seen = LastBatch(position, self._sites.get(number, NOWHERE), shapes_of(tensors), index)
            self._held = None

    def _gave(self, iterator: Any, batch: Any) -> None:
        known = iteration(iterator)
        if known is None:
            return
        number, index = known.number, known.indices.popleft() if known.indices else None
        place = known.given
        known.given += 1
        self.current = number
        self.watcher.bus.tell(moments.batch_arrived)
        count = self._given[number] = self._given.get(number, 0) + 1
        tensors = list(tensors_in(batch))[:16]
        self._last = (number, count - 1, [(path, weakref.ref(tensor)) for path, tensor in tensors], index)
        shapes = [list(tensor.shape) for _, tensor in tensors[:4] if not tensor.is_nested]
        self.watcher.bus.tell(moments.batch_shapes, shapes, self.clock.evaluating)
        self._seen = LastBatch(count - 1, self._sites.get(number, NOWHERE), shapes_of(tensors), index)
        self.watcher.bus.tell(moments.batch_given, self._seen.shapes)
        if self.watcher.affordable():
            near = brought_near(self.watcher, tensors)
            self._look_at(number, count - 1, near, index)
            self.samples.look_at(number, near, place)
        self.samples.gave(number, known.dataset, index)
        if place == 0:
            self.watcher.bus.tell(moments.first_batch_given, number, known.epoch, index)
        # The first batch of each epoch is described, too: an evaluation should see the same every time.
        if count <= BATCHES_PER_LOADER or count & (count - 1) == 0 or (place == 0 and known.epoch < EPOCHS_DESCRIBED):
            self._describe_batch(number, count - 1, tensors, epoch=known.epoch, place=place)

    def last_padding(self) -> float | None:
        """How much of the last batch is padding, as far as it is still there."""
        references = self._last[2] if self._last is not None else []
        return padding_share([(path, tensor) for path, held in references if (tensor := held()) is not None])

    def given(self) -> int:
        """How many batches have reached the script."""
        return sum(self._given.values())

    def last(self) -> LastBatch | None:
        """The last batch in words."""
        self._let_go()
        return self._seen

    def last_tensors(self) -> dict[str, torch.Tensor] | None:
        """The tensors of the last batch that are still alive, by their path in it."""
        self._let_go()
        if self._last is None:
            return None
        return {path: tensor for path, reference in self._last[2] if (tensor := reference()) is not None} or None

    @on(moments.run_over)
    def _run_over(self) -> None:
        self.samples.tell()
        self.epochs.finish()

    @on(moments.run_failed)
    def _run_failed(self, error: BaseException) -> None:
        self.tell_last()

    @on(moments.bad_loss)
    def _bad_loss(self) -> None:
        self.tell_last(describe=False)

    def tell_last(self, *, describe: bool = True) -> None:
        """Something has gone wrong: look at the batch it went wrong on, as far as it is still there."""
        self._let_go()
        if self._last is not None:
            number, position, references, index = self._last
            alive = [(path, tensor) for path, reference in references if (tensor := reference()) is not None]
            self._look_at(number, position, alive, index)
            if describe:
                self._describe_batch(number, position, alive)

    def _look_at(self, number: int, position: int, tensors: list[tuple[str, torch.Tensor]], index: Any) -> None:
        for path, tensor in tensors:
            if tensor.dtype.is_floating_point and tensor.device.type == "cpu" and readable(tensor):
                self._look_for_bad_values(number, position, path, tensor, index)

    def _describe_batch(
        self, number: int, position: int, tensors: list[tuple[str, torch.Tensor]], *, epoch: int = -1, place: int = -1
    ) -> None:
        described = []
        with torch.no_grad():
            for path, tensor in tensors:
                seen: dict[str, Any] = {}
                near = nearby(self.watcher, tensor)
                if near is not None and readable(near):
                    seen["values"] = Values(**dict(zip(VALUE_NAMES, values(near).tolist(), strict=True)))
                    seen["hash"] = content_hash(near) if near.nbytes <= LARGE else None
                    seen["boxes"] = boxes(near)
                described.append(describe(tensor, path=path, **seen))
        batch = Batch(loader=number, position=position, epoch=epoch, place=place, tensors=described)
        self.watcher.state(batch, site=user_site())

    def _look_for_bad_values(self, number: int, position: int, path: str, tensor: torch.Tensor, index: Any) -> None:
        # The sum is the cheapest number that any NaN or infinity spoils.
        with torch.no_grad():
            if bool(torch.isfinite(tensor.sum())):
                return
            nan, inf = int(torch.isnan(tensor).sum()), int(torch.isinf(tensor).sum())
            if not nan and not inf:
                return  # the sum itself overflowed
            rows = (~torch.isfinite(tensor)).reshape(tensor.shape[0] if tensor.dim() else 1, -1).any(1)
        places = rows.nonzero().reshape(-1).tolist()[:MOST_ROWS]
        known = integers(index) or []
        samples = [known[row] for row in places] if len(known) == len(rows) else []
        bad = BadInput(
            source="loader",
            loader=number,
            position=position,
            path=path,
            nan=nan,
            inf=inf,
            rows=places,
            samples=samples,
        )
        self.watcher.state(bad, site=user_site(), key=("loader", number, path))
