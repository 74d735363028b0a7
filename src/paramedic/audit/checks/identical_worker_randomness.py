"""PM309 in data: the random draws of real worker processes, compared."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from paramedic.audit.audit import Audit
from paramedic.audit.checks.check import check
from paramedic.audit.sources.samples import take_apart
from paramedic.audit.sources.torch_data import as_before
from paramedic.findings import Evidence, Finding
from paramedic.rules.rule import Abstain

DRAWS = 4  # per worker
SECONDS = 30


@check("PM309")
def identical_worker_randomness(audit: Audit) -> Iterator[Finding]:
    """Two workers make the same sample several times: what they draw must differ from worker to worker."""
    split = audit.train
    loader = split.source.origin if split.source.kind == "loader" else None
    if loader is None or not getattr(loader, "num_workers", 0) or not split.size:
        raise Abstain("no DataLoader with worker processes was given")
    try:
        first, second = _draws(loader, int(split.sketch.indices[0]))
    except Exception as error:
        raise Abstain(f"two workers could not be asked ({type(error).__name__})") from None
    random = any(not _equal(first[0], other) for other in first[1:])
    if random and all(_equal(one, other) for one, other in zip(first, second, strict=True)):
        yield Finding(
            what=f"{loader.num_workers} workers draw the same random numbers: two of them made sample "
            f"{int(split.sketch.indices[0])} {DRAWS} times, differently each time, but both alike",
            why="a worker starts with a copy of the dataset, random state included; torch only reseeds the "
            "global generators",
            remedy="DataLoader(..., worker_init_fn=f) where f seeds the dataset with get_worker_info().seed",
            evidence=(Evidence(name="equal_draws", value=DRAWS, limit="0"),),
            confidence=0.97,
            split="train",
        )


def _draws(loader: Any, index: int) -> tuple[list[Any], list[Any]]:
    again = _Repeated(loader.dataset, index)
    with as_before():
        twice = type(loader)(
            again, batch_size=None, num_workers=2, worker_init_fn=loader.worker_init_fn, timeout=SECONDS,
            multiprocessing_context=loader.multiprocessing_context,
        )  # fmt: skip
        made = [take_apart(sample, None)[0] for sample in twice]
    return made[0::2], made[1::2]


class _Repeated:
    """One sample of a dataset, over and over; worker i makes every second one of them."""

    def __init__(self, dataset: Any, index: int) -> None:
        self.dataset = dataset
        self.index = index

    def __len__(self) -> int:
        return 2 * DRAWS

    def __getitem__(self, _: int) -> Any:
        return self.dataset[self.index]


def _equal(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return all(np.array_equal(np.asarray(one[name]), np.asarray(other[name])) for name in one)
