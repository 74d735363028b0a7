"""The questions themselves. Each runs the model on a changed batch and compares the outputs."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy
import torch
from torch import nn

from paramedic.aliases import Args, Fields
from paramedic.program.tensors import tensors_in

Batch = tuple[tuple[Any, ...], dict[str, Any]]
TOLERANCE = 1e-4  # of the outputs' size


@dataclass(slots=True)
class Subject:
    """A model, in a process of its own, and a batch that it was trained on."""

    model: nn.Module
    batch: Batch

    def run(self, batch: Batch, *, training: bool = False, seed: int = 0) -> list[torch.Tensor]:
        """The outputs that can be compared by how far they are apart."""
        return [t.float() for t in self.answers(batch, training=training, seed=seed) if t.dtype.is_floating_point]

    def answers(self, batch: Batch, *, training: bool = False, seed: int = 0) -> list[torch.Tensor]:
        """All outputs, lengths and masks among them, always with the same random numbers."""
        torch.manual_seed(seed)
        random.seed(seed)
        numpy.random.seed(seed)
        self.model.train(training)
        args, kwargs = batch
        return [t for _, t in tensors_in(self.model(*args, **kwargs))]

    @property
    def inputs(self) -> list[tuple[str, torch.Tensor]]:
        return list(tensors_in(self.batch))

    @property
    def size(self) -> int:
        """Samples in the batch: the first size of the first input."""
        return next((t.shape[0] for _, t in self.inputs if t.dim() > 0), 0)

    def changed(self, change: Any) -> Batch:
        """The batch with `change(path, tensor)` instead of each tensor."""
        return _replace(self.batch, "", change)


def cloned(batch: Batch) -> Batch | None:
    """The batch with tensors of its own; None when it holds something that a second run might change."""
    plain = (torch.Tensor, int, float, str, bool, type(None))

    def copied(value: Any, depth: int) -> object:
        if isinstance(value, torch.Tensor):
            return value.detach().clone()
        if isinstance(value, plain):
            return value
        if type(value) in (list, tuple) and depth < 4:
            return type(value)(copied(item, depth + 1) for item in value)
        if type(value) is dict and depth < 4:
            return {key: copied(item, depth + 1) for key, item in value.items()}
        raise TypeError

    try:
        with torch.no_grad():
            return tuple(copied(item, 0) for item in batch[0]), {k: copied(v, 0) for k, v in batch[1].items()}
    except TypeError:
        return None


def _replace(value: object, path: str, change: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return change(path, value)
    if isinstance(value, dict):
        return {key: _replace(item, f"{path}[{key!r}]", change) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        items = [_replace(item, f"{path}[{index}]", change) for index, item in enumerate(value)]
        return items if isinstance(value, list) else tuple(items)
    return value


def distance(a: torch.Tensor, b: torch.Tensor) -> float:
    """The largest difference, in units of the values' size; infinity when one of them is not finite."""
    size = max(float(a.abs().max()), 1e-6) if a.numel() else 1.0
    gap = float((a - b).abs().max()) if a.numel() else 0.0
    return gap / size if gap == gap and size == size else float("inf")


def same(a: list[torch.Tensor], b: list[torch.Tensor]) -> bool:
    return len(a) == len(b) and all(torch.equal(one, other) for one, other in zip(a, b, strict=True))


def mixing(subject: Subject) -> Fields | None:
    """Does the output for one half of the batch depend on the other half? And after which module?

    Both halves are asked: a recurrent network that takes samples for time steps only looks back.
    """
    found = [_half(subject, first) for first in (True, False)] if subject.size >= 4 else []
    answers = [answer for answer in found if answer is not None]
    worst = max(answers, key=lambda answer: answer["gap"]) if answers else None
    return worst | {"apart": worst["gap"] > TOLERANCE and _second_apart(subject)} if worst else None


def _half(subject: Subject, first: bool) -> Fields | None:
    """Exchange one half of the batch and look at the other, the first or the second."""
    size = subject.size
    before = _traced(subject, subject.batch, size)
    after = _traced(subject, exchanged(subject, 0, size, first), size)
    gap = _gap(before[""], after[""], size, first)
    if gap is None:
        return None
    guilty = None
    for path in before if gap > TOLERANCE else ():  # in the order in which they were left
        if path and (_gap(before[path], after.get(path, []), size, first) or 0.0) > TOLERANCE:
            guilty = path
            break
    return {"gap": gap, "module": guilty}


def _second_apart(subject: Subject) -> bool:
    """Whether it is the second dimension along which samples do not meet, as in (time, batch, features)."""
    size = next((t.shape[1] for _, t in subject.inputs if t.dim() > 1), 0)
    if size < 2:
        return False
    before = subject.run(subject.batch)
    after = {first: subject.run(exchanged(subject, 1, size, first)) for first in (True, False)}
    gaps = [_gap(before, changed, size, first) for first, changed in after.items()]
    return all(gap is not None and gap <= TOLERANCE for gap in gaps)


def exchanged(subject: Subject, axis: int, size: int, first: bool) -> Batch:
    """The batch with other values in its second half along an axis, or if not `first`, in its first half."""
    half = size // 2

    def other_half(path: str, tensor: torch.Tensor) -> torch.Tensor:
        if tensor.dim() <= axis or tensor.shape[axis] != size:
            return tensor
        given = tensor.movedim(axis, 0)
        parts = [given[:half], given[: size - half]] if first else [given[size - half :], given[half:]]
        return torch.cat(parts).movedim(0, axis)

    return subject.changed(other_half)


def _gap(before: list[torch.Tensor], after: list[torch.Tensor], size: int, first: bool) -> float | None:
    """How far what was kept has moved. An output of (size, size, …) may have its samples on either axis."""
    kept = slice(0, size // 2) if first else slice(size // 2, size)
    gaps = []
    for a, b in zip(before, after, strict=False):
        axes = [axis for axis in range(min(a.dim(), 2)) if a.shape[axis] == size]
        if axes and a.shape == b.shape:
            gaps.append(min(distance(a.movedim(n, 0)[kept], b.movedim(n, 0)[kept]) for n in axes))
    return max(gaps, default=None)


def _traced(subject: Subject, batch: Batch, size: int) -> dict[str, list[torch.Tensor]]:
    """The outputs of all modules that have the batch in their first dimension, and under '' the model's own."""
    found: dict[str, list[torch.Tensor]] = {}
    names = {module: path for path, module in subject.model.named_modules()}

    def note(module: nn.Module, args: Args, output: object) -> None:
        tensors = [t.float() for _, t in tensors_in(output) if t.dtype.is_floating_point]
        found.setdefault(names[module], _of_size(tensors, size))

    hooks = [module.register_forward_hook(note) for module in names if module is not subject.model]
    try:
        own = _of_size(subject.run(batch), size)
    finally:
        for hook in hooks:
            hook.remove()
    return {path: tensors for path, tensors in found.items() if path} | {"": own}


def _of_size(tensors: list[torch.Tensor], size: int) -> list[torch.Tensor]:
    return [t for t in tensors if t.dim() > 0 and t.shape[0] == size]


def unflattened(subject: Subject, outputs: list[torch.Tensor]) -> list[torch.Tensor]:
    """Outputs that forward() has flattened for the loss, (N * T, C), place by place again: (N, T, C)."""
    size = subject.size
    lengths = {t.shape[1] for _, t in subject.inputs if t.dim() == 2 and t.shape[0] == size and t.dtype == torch.int64}
    if len(lengths) != 1 or size < 2:
        return outputs
    length = lengths.pop()
    flat = [o.dim() == 2 and o.shape[0] == size * length for o in outputs]
    return [o.reshape(size, length, -1) if is_flat else o for o, is_flat in zip(outputs, flat, strict=True)]


def places(subject: Subject, outputs: list[torch.Tensor]) -> int | None:
    """The length of the sequences that go in and come out, place by place."""
    size = subject.size
    lengths = {t.shape[1] for _, t in subject.inputs if t.dim() > 1 and t.shape[0] == size}
    found = (n for n in lengths if n >= 4 and any(o.dim() == 3 and o.shape[:2] == (size, n) for o in outputs))
    return next(found, None) if size >= 2 else None


def tokens(subject: Subject, outputs: list[torch.Tensor]) -> list[tuple[str, torch.Tensor]]:
    """Inputs that are sequences of ids, without those that only serve a loss inside the model: labels."""
    size = subject.size
    found = [(p, t) for p, t in subject.inputs if t.dim() == 2 and t.shape[0] == size and t.dtype == torch.int64]
    if len(found) < 2:
        return found
    kept = []
    for wanted, tensor in found:

        def change(path: str, given: torch.Tensor, wanted: str = wanted) -> torch.Tensor:
            return given.roll(1, 0) if path == wanted else given

        pairs = zip(outputs, unflattened(subject, subject.run(subject.changed(change))), strict=True)
        if any(a.dim() == 3 and not torch.equal(a, b) for a, b in pairs):
            kept.append((wanted, tensor))
    return kept


def present(subject: Subject) -> float | None:
    """By how much the output at a place changes with the token at the same place: the least of all token inputs."""
    outputs = unflattened(subject, subject.run(subject.batch))
    length = places(subject, outputs)
    if length is None:
        return None
    size, here = subject.size, length // 2
    influence = []
    for wanted, tensor in tokens(subject, outputs):
        if tensor.shape[:2] != (size, length):
            continue
        changed = tensor.clone()
        changed[:, here] = tensor[:, here].roll(1, 0)
        if torch.equal(changed, tensor):
            continue

        def change(path: str, given: torch.Tensor, wanted: str = wanted, new: torch.Tensor = changed) -> torch.Tensor:
            return new if path == wanted else given

        after = unflattened(subject, subject.run(subject.changed(change)))
        pairs = [(a, b) for a, b in zip(outputs, after, strict=True) if a.dim() == 3 and a.shape[:2] == (size, length)]
        influence.append(max(distance(a[:, here], b[:, here]) for a, b in pairs))
    return min(influence, default=None)


def ignored(subject: Subject) -> dict[str, bool]:
    """Each input that differs between samples: is it without any influence, in evaluation and in training?"""
    found: dict[str, bool] = {}
    base = {training: subject.answers(subject.batch, training=training) for training in (False, True)}
    for wanted, tensor in subject.inputs:
        rolled = tensor.roll(1, 0) if tensor.dim() > 0 else tensor
        if tensor.dim() == 0 or tensor.shape[0] != subject.size or torch.equal(rolled, tensor):
            continue

        def change(path: str, given: torch.Tensor, wanted: str = wanted, rolled: torch.Tensor = rolled) -> torch.Tensor:
            return rolled if path == wanted else given

        batch = subject.changed(change)
        found[wanted] = all(
            same(base[training], subject.answers(batch, training=training)) for training in (False, True)
        )
    return found
