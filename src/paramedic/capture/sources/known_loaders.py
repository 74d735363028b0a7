"""The loaders of a script: where they were built, their numbers in the record, and their worker processes."""

from __future__ import annotations

import torch
from torch.utils.data.dataloader import DataLoader, _BaseDataLoaderIter

from paramedic.capture import moments
from paramedic.capture.sources.batch import BuiltLoader
from paramedic.capture.sources.loader_settings import described
from paramedic.capture.sources.numbering import Numbering
from paramedic.capture.watcher import Watcher
from paramedic.program.untouched import Notes
from paramedic.program.where import built_at, user_site
from paramedic.record.writer import NOWHERE, Site


class KnownLoaders:
    """Loaders are told apart by number; the record knows them by it."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.sites: dict[int, Site] = {}  # where they were built, by number
        self.margins: dict[int | None, torch.Tensor] = {}  # by loader; filled by a probe of their own
        self.kept: list[DataLoader] = []  # all loaders, where they are wanted when the script is over
        self._numbers = Numbering()
        self._births: Notes[Site] = Notes()  # of loaders and samplers
        self._workers: dict[int, dict[int, str]] = {}  # process ids, by loader

    def born(self, made: object) -> None:
        """A loader or a sampler."""
        self._births[made] = built_at(made)
        if self.watcher.settings.audit and isinstance(made, DataLoader):
            self.kept.append(made)

    def number_of(self, loader: DataLoader) -> int:
        """The first pass over it begins, or a further one."""
        number = self._numbers.get(loader)
        if number is None:
            site = self._births.get(loader, NOWHERE)
            number = self._numbers.add(loader, site)
            if number not in self.sites:
                self.sites[number] = site
                self._describe(loader, number)
                self.watcher.bus.tell(moments.loader_met, number, loader)
                self.watcher.gears.news(0)
        return number

    def _describe(self, loader: DataLoader, number: int) -> None:
        fact = described(loader, number, sampler_at=self._births.get(loader.sampler))
        self.watcher.state(fact, site=self._births.get(loader, user_site()), phase="setup")

    def built(self) -> list[BuiltLoader]:
        """Every loader that was kept, in the order in which they were built."""
        found = [(loader, self._numbers.get(loader), self._births.get(loader, NOWHERE)) for loader in self.kept]
        return [BuiltLoader(*known, self.margins.get(known[1])) for known in found]

    def started_workers(self, number: int, iterator: _BaseDataLoaderIter) -> None:
        """A pass over the loader with this number has begun."""
        of_loader = f" of loader {number}" if number else ""
        started = enumerate(getattr(iterator, "_workers", ()))
        self._workers[number] = {worker.pid: f"worker {index}{of_loader}" for index, worker in started}

    def has_workers(self, number: int) -> bool:
        return bool(self._workers.get(number))

    def workers(self) -> dict[int, str]:
        """The worker processes started last, by process id; asked from another thread."""
        return {pid: name for started in list(self._workers.values()) for pid, name in started.items()}
