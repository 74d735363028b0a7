"""Does the answer for a sample depend on the row in which it lies, or on the padding that longer samples bring?"""

from __future__ import annotations

import ast
from typing import Any

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from paramedic.capture.active.questions import TOLERANCE, Batch, Subject, distance, exchanged
from paramedic.capture.code.trees import definition
from paramedic.capture.padding import run_at_end
from paramedic.program.tensors import tensors_in
from paramedic.program.where import is_users, shown_path, user_site

MOST_ALONE = 8  # samples that are asked by themselves
MOST_KEPT = 20_000_000  # values, while the line is looked for


def row(subject: Subject) -> dict[str, object] | None:
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
    site = _line(subject, reversed_batch) if gap > TOLERANCE else None
    return {"gap": gap, "site": site, "astray": _astray(subject, pairs[0][0]) if gap > TOLERANCE else None}


def _astray(subject: Subject, answers: torch.Tensor) -> int | None:
    """How many of a few samples get their answer, the one they get alone, in the row of another sample.

    None when some get it nowhere: then the batch does more than change the order. Nor is anything said of a model that
    returns the order beside its answers: its caller can put the labels into it.
    """
    args, kwargs = subject.batch
    given_back = [t for _, t in tensors_in(subject.model(*args, **kwargs)) if not t.dtype.is_floating_point]
    if any(t.shape[:1] == (subject.size,) for t in given_back):
        return None
    flat, astray = answers.reshape(len(answers), -1), 0
    scale = max(float(flat.abs().max()), 1e-6)
    for index in range(min(subject.size, MOST_ALONE)):
        alone = subject.run(subject.changed(lambda _, t, i=index: t[i : i + 1] if t.dim() > 0 else t))
        own = next((a.reshape(1, -1) for a in alone if a.shape[1:] == answers.shape[1:] and len(a) == 1), None)
        if own is None:
            return None
        gaps = (flat - own).abs().amax(1) / scale
        if float(gaps.min()) > TOLERANCE:
            return None
        astray += float(gaps[index]) > 10 * TOLERANCE
    return astray


def _line(subject: Subject, reversed_batch: Batch) -> list[object] | None:
    """The first operation whose result belongs to the row, not to the sample."""
    with _Results(subject.size) as before:
        subject.run(subject.batch)
    with _Results(subject.size) as after:
        subject.run(reversed_batch)
    for (site, mine), (_, theirs) in zip(before.kept, after.kept, strict=False):
        if mine.shape == theirs.shape and distance(mine, theirs.flip(0)) > TOLERANCE:
            return list(site) if site.file else None
    return None


def mixed_at(subject: Subject) -> list[object] | None:
    """The line of the first operation whose result for one half of the batch depends on the other half."""
    half = subject.size // 2
    with _Results(subject.size) as before:
        subject.run(subject.batch)
    for first in (True, False):
        with _Results(subject.size) as after:
            subject.run(exchanged(subject, 0, subject.size, first))
        kept = slice(0, half) if first else slice(half, subject.size)
        for (site, mine), (_, theirs) in zip(before.kept, after.kept, strict=False):
            if mine.shape == theirs.shape and distance(mine[kept], theirs[kept]) > TOLERANCE:
                return list(site) if site.file else None
    return None


class _Results(TorchDispatchMode):
    """Keeps what operations made that has as many rows as the batch, while there is room."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size
        self.kept: list[tuple[object, torch.Tensor]] = []
        self._room = MOST_KEPT

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        for _, tensor in tensors_in(result):
            fits = tensor.dim() > 1 and tensor.shape[0] == self.size and tensor.dtype.is_floating_point
            if fits and tensor.numel() <= self._room:
                self._room -= tensor.numel()
                self.kept.append((user_site(), tensor.detach().float().clone()))
        return result


def padding(subject: Subject) -> dict[str, object] | None:
    """By how much one answer per sample changes when padding that only others need is cut off.

    The half of the batch with the most padding is asked twice: in its company, and alone, cut to its own longest.
    """
    size = subject.size
    found = _padded(subject) if size >= 4 and all(len(t) == size for _, t in subject.inputs if t.dim() > 0) else None
    if found is None:
        return None
    pads, value = found
    runs, width = run_at_end(pads), pads.shape[1]
    rows = (
        runs.argsort(descending=True)[: size // 2].sort().values
    )  # in their order: a model may expect the longest first
    spare = int(runs[rows].min())
    if spare < max(1, width // 10) or width - spare < 2 or int(pads.sum()) != int(runs.sum()):
        return None
    told = any(_tells(tensor, pads, width - runs) for _, tensor in subject.inputs)
    if int(runs.min()) > 0 and not told:
        return None  # all rows end in it, the longest too: a token that ends a sentence

    def cut(path: str, tensor: torch.Tensor) -> torch.Tensor:
        tensor = tensor[rows] if tensor.dim() > 0 else tensor
        return tensor[:, : width - spare] if tensor.dim() > 1 and tensor.shape[1] == width else tensor

    whole = [a[rows] for a in _per_sample(subject.run(subject.batch), size)]
    alone = _per_sample(subject.run(subject.changed(cut)), len(rows))
    pairs = [(a, b) for a, b in zip(whole, alone, strict=False) if a.shape == b.shape and width not in a.shape[1:]]
    pairs = [(a, b) for a, b in pairs if a.dim() in (1, 2)]
    if not pairs or len(whole) != len(alone):
        return None
    return {
        "gap": max(distance(a, b) for a, b in pairs),
        # Without what all answers have in common: a bias that is summed up over all places, say.
        "uneven": max(distance(a, b + (a - b).mean(0)) for a, b in pairs),
        "value": value,
        "width": width,
        "cut": spare,
        "told": told,
        "read_at": _reads_last_place(subject.model),
        "declared": any(isinstance(m, nn.Embedding) and m.padding_idx == value for m in subject.model.modules()),
    }


def _padded(subject: Subject) -> tuple[torch.Tensor, int | None] | None:
    """Which places of a sequence may be padding: those that hold the id which rows end in, or nothing but zeros."""
    for _, tensor in subject.inputs:
        if tensor.dim() == 2 and tensor.dtype == torch.int64:
            value = tensor[:, -1].mode().values
            return tensor == value, int(value)
        if tensor.dim() == 3 and tensor.dtype.is_floating_point:
            return (tensor == 0).all(-1), None
    return None


def _reads_last_place(model: nn.Module) -> list[object] | None:
    """The one line of forward() that takes the last place of every row, padding or not: `states[:, -1]`."""
    code = getattr(type(model).forward, "__code__", None)
    function = definition(code) if code is not None and is_users(code.co_filename) else None
    if code is None or function is None:
        return None
    places = [n.slice for n in ast.walk(function) if isinstance(n, ast.Subscript) and isinstance(n.slice, ast.Tuple)]
    lines = [place.lineno for place in places if ast.unparse(place).strip("()") in (":, -1", ":, -1, :")]
    return [shown_path(code.co_filename), lines[0], code.co_name] if len(lines) == 1 else None


def _per_sample(outputs: list[torch.Tensor], size: int) -> list[torch.Tensor]:
    return [output for output in outputs if output.dim() > 0 and len(output) == size]


def _tells(tensor: torch.Tensor, pads: torch.Tensor, lengths: torch.Tensor) -> bool:
    """Whether an input says what is padding: a mask, in either sense, or the lengths."""
    if tensor.dim() == 1 and not tensor.dtype.is_floating_point and tensor.shape == lengths.shape:
        return bool((tensor == lengths).all())
    if tensor.shape != pads.shape:
        return False
    ones = tensor == 1
    return bool((ones == pads).all() or (ones == ~pads).all()) and bool((ones | (tensor == 0)).all())
