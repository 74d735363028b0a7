"""The order in which a loader that shuffles gives its samples, pass by pass."""

from __future__ import annotations

import weakref
from collections import Counter

from torch.utils.data import DataLoader, DistributedSampler, RandomSampler

from paramedic.aliases import Function
from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.probe import probe
from paramedic.capture.sizes import size_of
from paramedic.capture.watcher import Watcher
from paramedic.program.untouched import has_method, integer, integers, names_in, stored
from paramedic.program.where import user_frame, user_site, variable_name
from paramedic.record.facts import Order

MOST_TOLD = 20  # passes of a loader
FIRST = 16  # indices of a pass
_SEEDED = {"manual_seed", "seed", "Random", "RandomState", "default_rng"}


@probe("orders", states=[Order])
class Orders:
    """Notes for each pass what its sampler believes the epoch to be, and which samples came first."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._samplers: dict[int, tuple[weakref.ref[object], int | None]] = {}  # and batches of a pass, by loader
        self._set: Counter[int] = Counter()  # calls of set_epoch, by identity of the sampler

    def install(self) -> None:
        def watched_set_epoch(original: Function) -> Function:
            def set_epoch(sampler: object, epoch: int) -> None:
                original(sampler, epoch)
                self._set[id(sampler)] += 1

            return set_epoch

        self.watcher.patches.wrap(DistributedSampler, "set_epoch", watched_set_epoch)

    @on(moments.pass_began)
    def started(self, number: int, loader: DataLoader) -> None:
        sampler = _told_the_epoch(loader)
        if sampler is None and isinstance(loader.sampler, RandomSampler) and not loader.sampler.replacement:
            sampler = loader.sampler
        if sampler is not None:
            self._samplers[number] = weakref.ref(sampler), size_of(loader)

    @on(moments.first_batch_given)
    def began(self, number: int, epoch: int, index: object) -> None:
        """The first batch of a pass was given, of samples with these indices."""
        if number not in self._samplers or epoch >= MOST_TOLD or (first := integers(index)) is None:
            return
        reference, batches = self._samplers[number]
        sampler = reference()
        if sampler is None:
            return
        data = Order(
            loader=number,
            pass_=epoch,
            sampler=type(sampler).__name__,
            variable=variable_name(user_frame(), sampler),
            told=has_method(sampler, "set_epoch"),  # has to be told the epoch; others draw a new order by themselves
            epoch=integer(stored(sampler, "epoch")),
            seed=integer(stored(sampler, "seed")) if isinstance(sampler, DistributedSampler) else None,
            set=self._set[id(sampler)],
            first=first[:FIRST],
            batches=batches,
        )
        self.watcher.state(data, site=user_site())


def _told_the_epoch(loader: DataLoader) -> object:
    """The sampler of a loader that shuffles anew only when its epoch changes, if it has one."""
    batches = loader.batch_sampler
    for sampler in (loader.sampler, batches, stored(batches, "sampler")):
        told = has_method(sampler, "set_epoch") and integer(stored(sampler, "epoch")) is not None
        if told and stored(sampler, "shuffle", True) is not False and _seeds_with_epoch(type(sampler)):
            return sampler
    return None


def _seeds_with_epoch(kind: type) -> bool:
    codes = [getattr(names_in(base).get("__iter__"), "__code__", None) for base in kind.__mro__]
    return any("epoch" in code.co_names and _SEEDED & {*code.co_names} for code in codes if code is not None)
