"""How a DataLoader samples, as it was set up."""

from __future__ import annotations

from torch.utils import data as torch_data
from torch.utils.data import DataLoader

from paramedic.capture.code.labels import label_sites
from paramedic.capture.sizes import size_of
from paramedic.capture.sources.datasets import (
    filled_while_loading,
    generator_in_use,
    label_order,
    reader_site,
    sampler_fit,
    speaks_of,
)
from paramedic.program.untouched import integer, stored
from paramedic.program.where import user_frame, variable_name
from paramedic.record.facts import Loader
from paramedic.record.site import Site


def described(loader: DataLoader, number: int, sampler_at: Site | None) -> Loader:
    """Its settings; `sampler_at` is the line that made its sampler. No code of the user's is called."""
    dataset, sampler, batch_sampler = loader.dataset, loader.sampler, loader.batch_sampler
    return Loader(
        number=number,
        dataset=type(dataset).__name__,
        size=size_of(dataset),
        batch_size=integer(loader.batch_size) or integer(stored(batch_sampler, "batch_size")),
        batches=size_of(batch_sampler),
        sampler=type(sampler).__name__,
        own_batch_sampler=type(batch_sampler) not in (torch_data.BatchSampler, type(None)),
        drop_last=stored(loader, "drop_last") is True,
        workers=loader.num_workers,
        iterable=isinstance(dataset, torch_data.IterableDataset),
        labels=label_order(dataset),
        labels_at=label_sites(loader),
        variable=variable_name(user_frame(), loader),
        reader=reader_site(dataset),
        boxes=speaks_of(dataset, "box"),
        fit=sampler_fit(sampler, dataset),
        sampler_at=sampler_at,
        generator=generator_in_use(dataset),
        worker_init=loader.worker_init_fn is not None,
        persistent=stored(loader, "persistent_workers") is True,
        filled=filled_while_loading(dataset) if loader.num_workers else [],
    )
