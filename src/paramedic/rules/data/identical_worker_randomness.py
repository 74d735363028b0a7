"""PM309."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from paramedic.record.facts import Loader, Repeats
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.lines import edited_at
from paramedic.static.attributes import set_in_init
from paramedic.static.program import program

if TYPE_CHECKING:
    from paramedic.audit.audit import Audit


@rule("PM309", "identical-worker-randomness", severity="error", needs=[Loader])
def check(run: Run) -> Iterator[Finding]:
    """Worker processes draw the same random numbers or read the same samples.

    A generator stored on the dataset (`self.rng = np.random.default_rng(0)`) is copied to every worker in the same
    state, and again at the start of each epoch unless the workers persist. An `IterableDataset` is copied in the same
    way: unless its `__iter__` uses `get_worker_info()` to take its share, every worker yields all of it.

    ## Why it hurts
    Samples from different workers get the same augmentation, and every epoch repeats it: far less variety than
    intended.

    ## What to try first
    Draw from torch (`torch.rand(())`), whose state differs per worker, or seed the generator in a `worker_init_fn`:
    `get_worker_info().dataset.rng = np.random.default_rng(get_worker_info().seed)`.

    ## When this is wrong
    When the dataset reseeds its generator for each sample by other means than `seed`, `manual_seed` or a new generator.

    ## Options
    In an audit: `draws`: how often each of two workers makes the same sample.
    """
    yield from _whole_streams(run)
    for loader in run.facts(Loader):
        generator = loader.generator
        workers = loader.workers
        if generator is None or loader.worker_init or workers == 0 or (workers == 1 and loader.persistent):
            continue
        made = set_in_init(program(run), loader.dataset, generator.attribute.rpartition(".")[2])
        alike = f"{workers} workers get the same copy of" if workers > 1 else "each epoch starts with the same copy of"
        yield Finding(
            what=f"{alike} {generator.attribute} ({generator.class_}), which {loader.dataset} draws from",
            why="a worker starts with a copy of the dataset, including its random state; torch reseeds only the "
            "global generators",
            remedy="DataLoader(..., worker_init_fn=f) where f gives get_worker_info().dataset a generator seeded with "
            "get_worker_info().seed; or draw with torch.rand",
            **edited_at(loader.where, made),
            severity="error" if workers > 1 else "warning",
            evidence=(
                Evidence(name="workers", value=workers, limit="1 generator each"),
                Evidence(name="worker_init_fn", value="none"),
            ),
            confidence=0.93,
        )


def _whole_streams(run: Run, fewest: int = 16) -> Iterator[Finding]:
    """Different workers return the same samples of a stream; never one worker twice, as in oversampling."""
    repeats = {event.loader: event for event in run.facts(Repeats)}
    for loader in run.facts(Loader):
        found, workers = repeats.get(loader.number), loader.workers
        if found is None or not loader.iterable or workers < 2:
            continue
        across = found.across
        if across < max(fewest, 0.05 * found.rows) or found.within > 0.02 * across:
            continue
        yield Finding(
            what=f"{across:,} of {found.rows:,} samples of {loader.dataset} had already come from another of its "
            f"{workers} workers in the same epoch",
            why="every worker has a copy of the dataset and iterates over all of it",
            remedy="give each worker its share in __iter__: info = get_worker_info(); "
            "itertools.islice(items, info.id, None, info.num_workers)",
            where=loader.where,
            evidence=(Evidence(name="samples_from_several_workers", value=across, limit="0"),),
            severity="warning",
            confidence=0.92,
        )


# In an audit: the data itself, before any training.
SECONDS = 30  # that a worker may take


class _Repeated:
    """One sample of a dataset, over and over; the two workers take turns."""

    def __init__(self, dataset: Any, index: int, draws: int) -> None:
        self.dataset = dataset
        self.index = index
        self.draws = draws

    def __len__(self) -> int:
        return 2 * self.draws

    def __getitem__(self, _: int) -> Any:
        return self.dataset[self.index]


def in_data(audit: Audit, *, draws: int = 4) -> Iterator[Finding]:
    """Two workers load the same sample several times: their random draws must differ."""
    split = audit.train
    loader = split.source.origin if split.source.kind == "loader" else None
    if loader is None or not getattr(loader, "num_workers", 0) or not split.size:
        raise Abstain("no DataLoader with worker processes was given")
    try:
        first, second = _draws(loader, int(split.sketch.indices[0]), draws)
    except Exception as error:
        raise Abstain(f"two workers could not be started ({type(error).__name__})") from None
    random = any(not _equal(first[0], other) for other in first[1:])
    if random and all(_equal(one, other) for one, other in zip(first, second, strict=True)):
        yield Finding(
            what=f"{loader.num_workers} workers draw the same random numbers: two of them loaded sample "
            f"{int(split.sketch.indices[0])} {draws} times; it varied each time, but was identical in both",
            why="a worker starts with a copy of the dataset, including its random state; torch reseeds only the "
            "global generators",
            remedy="DataLoader(..., worker_init_fn=f) where f seeds the dataset with get_worker_info().seed",
            evidence=(Evidence(name="equal_draws", value=draws, limit="0"),),
            confidence=0.97,
            split="train",
        )


def _draws(loader: Any, index: int, draws: int) -> tuple[list[Any], list[Any]]:
    from paramedic.audit.sources.samples import take_apart
    from paramedic.audit.sources.torch_data import as_before

    again = _Repeated(loader.dataset, index, draws)
    with as_before():
        twice = type(loader)(
            again, batch_size=None, num_workers=2, worker_init_fn=loader.worker_init_fn, timeout=SECONDS,
            multiprocessing_context=loader.multiprocessing_context,
        )  # fmt: skip
        made = [take_apart(sample, None)[0] for sample in twice]
    return made[0::2], made[1::2]


def _equal(one: dict[str, Any], other: dict[str, Any]) -> bool:
    import numpy as np

    return all(np.array_equal(np.asarray(one[name]), np.asarray(other[name])) for name in one)
