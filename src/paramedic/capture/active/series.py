"""Does the output of a model of series, at one place, change with numbers that come after that place?"""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from paramedic.capture.active.questions import TOLERANCE, Batch, Subject, distance
from paramedic.program.tensors import tensors_in
from paramedic.program.where import user_site

FEWEST = 8  # places


def later_numbers(subject: Subject) -> dict[str, object] | None:
    """By how much early outputs change with later numbers: 0 for a causal model; and the line where that begins.

    Only of a model that is given one series and answers place by place.
    """
    given = [(path, t) for path, t in subject.inputs if t.dtype.is_floating_point and t.dim() in (2, 3)]
    if len(given) != 1 or given[0][1].shape[0] != subject.size or subject.size < 2:
        return None
    path, series = given[0]
    outputs = subject.run(subject.batch)
    axes = [axis for axis in range(1, series.dim()) if _by_place(outputs, series, axis)]
    if len(axes) != 1:
        return None
    axis, length = axes[0], series.shape[axes[0]]
    cut = length // 2
    batch = subject.changed(lambda p, t: _other_end(t, axis, cut) if p == path else t)
    pairs = list(zip(_by_place(outputs, series, axis), _by_place(subject.run(batch), series, axis), strict=False))
    if not pairs or all(torch.equal(a, b) for a, b in pairs):
        return None
    gap = max(distance(a[:, :cut], b[:, :cut]) for a, b in pairs)
    return {"gap": gap, "site": _line(subject, batch, length, cut) if gap > TOLERANCE else None}


def _other_end(series: torch.Tensor, axis: int, cut: int) -> torch.Tensor:
    """With the later numbers of another sample."""
    places = series.shape[axis]
    return torch.cat([series.narrow(axis, 0, cut), series.roll(1, 0).narrow(axis, cut, places - cut)], axis)


def _by_place(outputs: list[torch.Tensor], series: torch.Tensor, axis: int) -> list[torch.Tensor]:
    """The outputs with as many places as the series, these in the second dimension."""
    size, length = series.shape[0], series.shape[axis]
    if length < FEWEST:
        return []
    found = []
    for output in outputs:
        where = [n for n in range(1, output.dim()) if output.shape[n] == length] if len(output) == size else []
        where = [axis] if axis in where else where
        if len(where) == 1:
            found.append(output.movedim(where[0], 1))
    return found


def _line(subject: Subject, batch: Batch, length: int, cut: int) -> list[object] | None:
    """The user's line of the first operation whose early results depend on later numbers."""
    with _Results(length) as before:
        subject.run(subject.batch)
    with _Results(length) as after:
        subject.run(batch)
    for (site, axis, mine), (_, _, theirs) in zip(before.kept, after.kept, strict=False):
        if mine.shape == theirs.shape and distance(mine.narrow(axis, 0, cut), theirs.narrow(axis, 0, cut)) > TOLERANCE:
            return list(site) if site.file else None
    return None


class _Results(TorchDispatchMode):
    """Keeps what operations made that has as many places as the series."""

    def __init__(self, length: int) -> None:
        super().__init__()
        self.length = length
        self.kept: list[tuple[object, int, torch.Tensor]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        for _, tensor in tensors_in(result):
            axes = [n for n in range(1, tensor.dim()) if tensor.shape[n] == self.length]
            if len(axes) == 1 and tensor.dtype.is_floating_point and len(self.kept) < 500:
                self.kept.append((user_site(), axes[0], tensor.detach().float().clone()))
        return result
