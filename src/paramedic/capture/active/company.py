"""Does the answer for a sample depend on the row in which it lies, or on the padding that longer samples bring?"""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from paramedic.capture.active.questions import TOLERANCE, Batch, Subject, distance
from paramedic.capture.facts import tensors_in
from paramedic.capture.probes.padding import run_at_end
from paramedic.capture.where import user_site

MOST_KEPT = 20_000_000  # values, while the line is looked for


def row(subject: Subject) -> dict[str, Any] | None:
    """By how much the answers differ when the same samples come in reverse order; and the line that makes it so.

    Only where all inputs have the samples in their first dimension, and nothing is drawn at random.
    """
    given = [t for _, t in subject.inputs if t.dim() > 0]
    if subject.size < 4 or any(t.shape[0] != subject.size for t in given):
        return None
    before = subject.run(subject.batch)
    if any(not torch.equal(a, b) for a, b in zip(before, subject.run(subject.batch, seed=1), strict=True)):
        return None
    reversed_batch = subject.changed(lambda path, tensor: tensor.flip(0) if tensor.dim() > 0 else tensor)
    both = zip(before, subject.run(reversed_batch), strict=True)
    pairs = [(a, b) for a, b in both if a.dim() > 0 and a.shape == b.shape and len(a) == subject.size]
    if any(subject.size in a.shape[1:] for a, _ in pairs):
        return None  # samples beside samples
    gaps = [distance(a, b.flip(0)) for a, b in pairs]
    gap = max(gaps, default=None)
    if gap is None:
        return None
    return {"gap": gap, "site": _line(subject, reversed_batch) if gap > TOLERANCE else None}


def _line(subject: Subject, reversed_batch: Batch) -> list[Any] | None:
    """The first operation whose result belongs to the row, not to the sample."""
    with _Results(subject.size) as before:
        subject.run(subject.batch)
    with _Results(subject.size) as after:
        subject.run(reversed_batch)
    for (site, mine), (_, theirs) in zip(before.kept, after.kept, strict=False):
        if mine.shape == theirs.shape and distance(mine, theirs.flip(0)) > TOLERANCE:
            return list(site) if site.file else None
    return None


class _Results(TorchDispatchMode):
    """Keeps what operations made that has as many rows as the batch, while there is room."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size
        self.kept: list[tuple[Any, torch.Tensor]] = []
        self._room = MOST_KEPT

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        for _, tensor in tensors_in(result):
            fits = tensor.dim() > 1 and tensor.shape[0] == self.size and tensor.dtype.is_floating_point
            if fits and tensor.numel() <= self._room:
                self._room -= tensor.numel()
                self.kept.append((user_site(), tensor.detach().float().clone()))
        return result


def padding(subject: Subject) -> dict[str, Any] | None:
    """By how much one answer per sample changes when padding that only others need is cut off.

    The half of the batch with the most padding is asked twice: as it is, and cut to its own longest sample.
    """
    size = subject.size
    ids = next((t for _, t in subject.inputs if t.dim() == 2 and t.dtype == torch.int64 and len(t) == size), None)
    if ids is None or size < 4 or any(t.shape[0] != size for _, t in subject.inputs if t.dim() > 0):
        return None
    value, width = ids[:, -1].mode().values, ids.shape[1]
    runs = run_at_end(ids == value)
    rows = runs.argsort(descending=True)[: size // 2]
    spare = int(runs[rows].min())
    if spare < max(1, width // 10) or width - spare < 2 or int((ids == value).sum()) != int(runs.sum()):
        return None

    def cut(path: str, tensor: torch.Tensor, to: int = width) -> torch.Tensor:
        tensor = tensor[rows] if tensor.dim() > 0 else tensor
        return tensor[:, :to] if tensor.dim() > 1 and tensor.shape[1] == width else tensor

    whole = subject.run(subject.changed(cut))
    shorter = subject.run(subject.changed(lambda path, tensor: cut(path, tensor, width - spare)))
    pairs = [(a, b) for a, b in zip(whole, shorter, strict=False) if a.shape == b.shape and len(a) == len(rows)]
    gaps = [distance(a, b) for a, b in pairs if a.dim() in (1, 2) and width not in a.shape[1:]]
    if not gaps or len(whole) != len(shorter):
        return None
    lengths = width - runs
    told = any(_tells(tensor, ids, value, lengths) for _, tensor in subject.inputs)
    return {"gap": max(gaps), "value": int(value), "width": width, "cut": spare, "told": told}


def _tells(tensor: torch.Tensor, ids: torch.Tensor, value: torch.Tensor, lengths: torch.Tensor) -> bool:
    """Whether an input says what is padding: a mask, in either sense, or the lengths."""
    if tensor.dim() == 1 and not tensor.dtype.is_floating_point and tensor.shape == lengths.shape:
        return bool((tensor == lengths).all())
    if tensor.shape != ids.shape or tensor is ids:
        return False
    real = ids != value
    ones = tensor == 1
    return bool((ones == real).all() or (ones == ~real).all()) and bool((ones | (tensor == 0)).all())
