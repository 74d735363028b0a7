"""torch's Dataset and DataLoader, through the user's own transforms and collate. torch is not imported here."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paramedic.audit.chunk import BadSample, Chunk, Source
from paramedic.audit.sources.choosing import CHUNK, chosen, in_pieces
from paramedic.audit.sources.samples import file_of, put_together, take_apart

MOST_OF_STREAM = 20_000  # samples


def is_loader(value: Any) -> bool:
    return hasattr(value, "dataset") and hasattr(value, "collate_fn") and hasattr(value, "batch_size")


def is_dataset(value: Any) -> bool:
    return hasattr(value, "__getitem__") or hasattr(value, "__iter__")


def open_dataset(dataset: Any, *, title: str, label: str | None, sample: int | None) -> Source:
    size = _length(dataset)
    if size is None or not hasattr(dataset, "__getitem__"):
        return _stream(dataset, title=title, label=label, sample=sample)
    indices = chosen(size, sample)
    return Source(
        title=title or type(dataset).__name__,
        kind="dataset",
        read_some=lambda indices: _read(dataset, indices, label),
        indices=indices,
        size=len(indices),
        label=label or "",
        classes=_classes(dataset),
        origin=dataset,
    )


def open_loader(loader: Any, *, title: str, label: str | None, sample: int | None) -> Source:
    """The samples that a loader gives in an epoch, each once, in the order of the dataset."""
    if _length(loader.dataset) is None or loader.batch_sampler is None or not hasattr(loader.dataset, "__getitem__"):
        return _stream(loader, title=title, label=label, sample=sample, batched=loader.batch_size is not None)
    size = _length(loader.dataset) or 0
    with as_before():
        drawn = sorted({int(index) for batch in loader.batch_sampler for index in batch})
    fitting = np.asarray([index for index in drawn if index < size], dtype=np.int64)
    indices = fitting[chosen(len(fitting), sample)]
    return Source(
        title=title or type(loader.dataset).__name__,
        kind="loader",
        read_some=lambda indices: _read(loader.dataset, indices, label, collate=loader.collate_fn),
        indices=indices,
        size=len(indices),
        label=label or "",
        classes=_classes(loader.dataset),
        origin=loader,
    )


@contextlib.contextmanager
def as_before() -> Iterator[None]:
    """Leave the script's random numbers as they were."""
    import random

    torch = sys.modules.get("torch")
    state = torch.get_rng_state() if torch else None
    pythons, numpys = random.getstate(), np.random.get_state()
    try:
        yield
    finally:
        random.setstate(pythons)
        np.random.set_state(numpys)
        if torch:
            torch.set_rng_state(state)


def _read(dataset: Any, indices: Sequence[int] | Any, label: str | None, collate: Any = None) -> Iterator[Chunk]:
    with as_before():
        for part in in_pieces(indices, CHUNK):
            parts, found, bad = [], [], []
            names: dict[int, str] = {}
            for index in part.tolist():
                try:
                    sample = dataset[index]
                    if file := file_of(sample):
                        names[index] = file
                    parts.append(take_apart(_through(collate, sample), label))
                    found.append(index)
                except Exception as error:
                    bad.append(BadSample(index=index, error=f"{type(error).__name__}: {error}"[:300]))
            yield put_together(parts, found, bad, names)


def _through(collate: Any, sample: Any) -> Any:
    """A batch of one, without its first axis: what the collate function does to a sample stays visible."""
    if collate is None or getattr(collate, "__name__", "") == "default_collate":
        return sample
    batch = collate([sample])
    try:
        return _first(batch)
    except Exception:
        return sample


def _first(batch: Any) -> Any:
    if isinstance(batch, dict) or hasattr(batch, "items"):
        return {key: _first(value) for key, value in batch.items()}
    if isinstance(batch, tuple | list):
        if len(batch) == 1:
            return batch[0]  # a collate function that only lists the samples: tuple(zip(*batch))
        return type(batch)(_first(value) for value in batch)
    return batch[0] if hasattr(batch, "shape") and len(batch.shape) and batch.shape[0] == 1 else batch


def _stream(stream: Any, *, title: str, label: str | None, sample: int | None, batched: bool = False) -> Source:
    """A stream without a length: read in its own order, as far as `sample` says."""

    most = sample or MOST_OF_STREAM  # it may never end

    def read(_: NDArray[np.int64]) -> Iterator[Chunk]:
        with as_before():
            parts: list[Any] = []
            start = 0
            for item in stream:
                parts += [take_apart(one, label) for one in (_unbatched(item) if batched else [item])]
                full = start + len(parts) >= most
                if len(parts) >= CHUNK or full:
                    yield put_together(parts[: most - start], range(start, min(start + len(parts), most)), ())
                    start, parts = start + len(parts), []
                if full:
                    return
            if parts:
                yield put_together(parts, range(start, start + len(parts)), ())

    return Source(
        title=title or type(stream).__name__,
        kind="loader" if batched else "dataset",
        read_some=read,
        indices=np.zeros(0, dtype=np.int64),
        origin=stream,
        notices=(f"a stream: its first {most:,} samples were looked at, if it has as many",),
    )


def _unbatched(batch: Any) -> list[Any]:
    if hasattr(batch, "items"):
        rows = {key: value for key, value in batch.items() if hasattr(value, "__len__")}
        size = min(len(value) for value in rows.values())
        return [{key: value[i] for key, value in rows.items()} for i in range(size)]
    if isinstance(batch, tuple | list):
        size = min(len(value) for value in batch)
        return [tuple(value[i] for value in batch) for i in range(size)]
    return list(batch)


def _length(dataset: Any) -> int | None:
    try:
        return len(dataset)
    except (TypeError, NotImplementedError, AttributeError):
        return None


def _classes(dataset: Any) -> Sequence[str]:
    while hasattr(dataset, "dataset"):
        dataset = dataset.dataset
    names = getattr(dataset, "classes", None)
    return [str(name) for name in names] if isinstance(names, list | tuple) else ()
