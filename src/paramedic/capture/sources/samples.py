"""Which samples each loader has given: the same ones to training and to evaluation?"""

from __future__ import annotations

import contextlib
import hashlib
import weakref
from dataclasses import dataclass, field

import torch
from torch.utils import data as torch_data
from torch.utils.data import DataLoader

from paramedic.capture.facts import readable
from paramedic.capture.probes.data.selections import together
from paramedic.capture.sources.datasets import in_root
from paramedic.capture.watcher import Watcher
from paramedic.program.untouched import integers
from paramedic.record.facts import Contents, Overlap, Repeats
from paramedic.record.thinning import thinned

MOST_INDICES = 200_000  # remembered per loader
MOST_CONTENTS = 20_000
FEWEST_ROWS, MOST_COLUMNS = 8, 64  # different samples of a batch, and columns, by which values are judged
MOST_LOADERS = 32
MOST_BYTES = 16_000_000  # of a batch that is gone through sample by sample
LEAST_VALUES = 4  # of a sample that is told from others by its content
STRETCH = 8  # values in a row, or places of a series with several values each that make as many
ONE_IN = 4  # stretches that are remembered: the same ones wherever they occur
MOST_STRETCHES = 50_000


_WEIGHTS = torch.randint(1 << 62, (1024,), generator=torch.Generator().manual_seed(0)) | 1


@dataclass(slots=True)
class Given:
    """The samples that came out of one loader."""

    loader: weakref.ref[DataLoader]
    indices: set[tuple[int, int]] = field(default_factory=set)  # root dataset and number in it
    contents: set[bytes] = field(default_factory=set)
    rows: int = 0  # samples whose content was looked at
    passes: int = 0
    first_rows: int = 0  # of them in the first pass, in which no sample comes twice
    first_contents: int = 0  # and how many different ones there were
    continuous: bool | None = None  # hardly two samples have one value in common, so none are equal by chance
    stretches: set[int] = field(default_factory=set)  # parts of series: windows may overlap without being equal
    workers: int = 0  # that read a stream, each a copy of it
    makers: dict[bytes, int] = field(default_factory=dict)  # of a stream's first pass: the worker that gave a sample
    across: int = 0  # samples that another worker had given before
    within: int = 0  # and the same one


class Samples:
    """Compares loaders by what they gave, as far as there is time to look."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.given: dict[int, Given] = {}
        self._told: dict[tuple[int, int], int] = {}  # how much was compared

    def started(self, number: int, loader: DataLoader) -> None:
        if number not in self.given and len(self.given) < MOST_LOADERS:
            stream = isinstance(loader.dataset, torch_data.IterableDataset)
            self.given[number] = Given(weakref.ref(loader), workers=loader.num_workers if stream else 0)
        if number in self.given:
            self.given[number].passes += 1

    def gave(self, number: int, dataset: object, index: object) -> None:
        """A batch was made from these indices."""
        seen = self.given.get(number)
        if seen is not None and len(seen.indices) < MOST_INDICES:
            with contextlib.suppress(TypeError, IndexError):  # indices of the user's own making
                seen.indices.update(in_root(dataset, i) for i in integers(index) or ())

    def look_at(self, number: int, tensors: list[torch.Tensor], place: int) -> None:
        """Remember the content of each sample of a batch, the place-th of its pass, once it is in ordinary memory."""
        seen = self.given.get(number)
        inputs = next((tensor for tensor in tensors if tensor.dim() > 1), None)
        if seen is None or seen.rows >= MOST_CONTENTS or inputs is None or not readable(inputs):
            return
        if inputs.numel() >= LEAST_VALUES * inputs.shape[0] and inputs.nbytes <= MOST_BYTES:
            passes = seen.passes
            self.watcher.bring("data_loaders", [inputs], lambda near: _remember(seen, place, passes, near[0]))

    def tell(self, number: int | None = None) -> None:
        """What a loader (or each) has in common with the others, as far as it is not told yet."""
        for mine in [number] if number in self.given else [] if number is not None else list(self.given):
            if together():
                self._tell_contents(mine)
            self._tell_repeats(mine)
            for other in self.given:
                if other != mine:
                    self._tell_pair(mine, other)
                    self._tell_pair(other, mine)

    def _tell_repeats(self, number: int) -> None:
        """Samples that several workers gave, in one pass."""
        seen = self.given[number]
        if seen.passes > 1 and seen.across:
            data = Repeats(loader=number, rows=seen.first_rows, across=seen.across, within=seen.within)
            self.watcher.state(data, phase="setup", key=("repeats", number))

    def _tell_contents(self, number: int) -> None:
        """For the other ranks, whose samples cannot be seen from here."""
        seen = self.given[number]
        if seen.contents and self._told.get((number, number)) != seen.rows:
            self._told[(number, number)] = seen.rows
            data = Contents(
                loader=number,
                digests=thinned([int.from_bytes(digest) for digest in seen.contents]),
                first_rows=seen.first_rows,
                first_contents=seen.first_contents,
            )
            self.watcher.state(data, phase="setup")

    def _tell_pair(self, number: int, other: int) -> None:
        a, b = self.given[number], self.given[other]
        size = len(a.indices) + len(b.indices) + len(a.contents) + len(b.contents)
        if self._told.get((number, other)) == size:
            return
        self._told[(number, other)] = size
        # Datasets are known by their identity, which lasts as long as their loaders do.
        alive = a.loader() is not None and b.loader() is not None
        by_index, by_content = len(a.indices & b.indices) if alive else 0, len(a.contents & b.contents)
        in_part = len(a.stretches & b.stretches) if a.continuous and b.continuous else 0
        if by_index or by_content or in_part:
            data = Overlap(
                loader=number,
                other=other,
                shared_indices=by_index,
                indices=len(a.indices),
                other_indices=len(b.indices),
                shared_contents=by_content,
                contents=len(a.contents),
                other_contents=len(b.contents),
                first_rows=a.first_rows,
                first_contents=a.first_contents,
                other_first_rows=b.first_rows,
                other_first_contents=b.first_contents,
                continuous=bool(a.continuous and b.continuous),
                shared_stretches=in_part,
                stretches=len(a.stretches),
            )
            self.watcher.state(data, phase="setup")


def _remember(seen: Given, place: int, passes: int, inputs: torch.Tensor) -> None:
    rows = inputs.detach().reshape(inputs.shape[0], -1).contiguous()
    kept = _without_padding(rows)
    raw, size = rows.view(torch.uint8).numpy(), rows.element_size()
    for row, length in zip(raw, kept, strict=True):
        if length >= LEAST_VALUES:
            digest = hashlib.blake2b(row[: length * size].tobytes(), digest_size=8).digest()
            seen.contents.add(digest)
            seen.rows += 1
            if seen.workers > 1 >= passes:
                _by_worker(seen, digest, place % seen.workers)  # they take turns
    if seen.continuous is None:
        seen.continuous = _is_continuous(rows)
    if seen.continuous and len(seen.stretches) < MOST_STRETCHES:
        seen.stretches.update(_stretches(inputs.detach()))
    if passes <= 1:
        seen.first_rows, seen.first_contents = seen.rows, len(seen.contents)


def _is_continuous(rows: torch.Tensor) -> bool | None:
    """Whether nearly every sample has a value of its own in nearly every column; None if there are too few to tell."""
    different = rows.unique(dim=0) if rows.dtype.is_floating_point else rows[:0]
    if len(different) < FEWEST_ROWS:
        return None if rows.dtype.is_floating_point else False
    columns = different[:, :: max(1, different.shape[1] // MOST_COLUMNS)].T
    own = [len(column.unique()) > 0.9 * len(different) for column in columns]
    return sum(own) > 0.9 * len(own)


def _stretches(inputs: torch.Tensor) -> list[int]:
    """Numbers for short stretches of rows (samples, places) or series (samples, places, values), and some of them only.

    Which of the two axes of a series are the places is not known, so it is read both ways. A stretch is chosen by its
    content, so that the same one is chosen wherever it lies in a window.
    """
    if inputs.dtype != torch.float32 or inputs.dim() not in (2, 3):
        return []
    bits = inputs.contiguous().view(torch.int32).long()
    found: set[int] = set()
    for series in (bits.unsqueeze(-1),) if inputs.dim() == 2 else (bits, bits.transpose(1, 2)):
        places = max(1, -(-STRETCH // series.shape[2]))
        if series.shape[1] < 2 * places:
            continue
        weights = _WEIGHTS[: places * series.shape[2]]
        if len(weights) < places * series.shape[2]:
            continue
        windows = series.unfold(1, places, 1).reshape(-1, places * series.shape[2])
        numbers = (windows * weights).sum(1)  # wraps around, which does no harm
        numbers = (numbers ^ (numbers >> 29)) * _WEIGHTS[0]
        found.update(numbers[(numbers >> 7) % ONE_IN == 0].tolist())
    return list(found)


def _by_worker(seen: Given, digest: bytes, worker: int) -> None:
    before = seen.makers.setdefault(digest, -1)
    if before < 0:
        seen.makers[digest] = worker
    elif before == worker:
        seen.within += 1
    else:
        seen.across += 1


def _without_padding(rows: torch.Tensor) -> list[int]:
    """How many values each row has before it ends in a run of one value: batches are padded to different lengths."""
    same = rows == rows[:, -1:]
    run = same.flip(1).to(torch.uint8).cumprod(1).sum(1)
    return [int(n) for n in rows.shape[1] - run]
