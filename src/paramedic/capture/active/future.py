"""Does a model see later tokens? And where in the user's code does it begin to?"""

from __future__ import annotations

from typing import Any

import torch

from paramedic.capture.active.questions import TOLERANCE, Batch, Subject, distance, places, tokens
from paramedic.capture.facts import tensors_in
from paramedic.capture.where import user_site


def future(subject: Subject) -> dict[str, Any] | None:
    """By how much outputs change at the places before a change of the inputs: 0 for a causal model.

    Of several sequences one may be a source that the model is meant to see as a whole. Those that are as long as the
    output are then changed one by one, and the least influence counts: the answer must hold for the one that is
    predicted, whichever it is.
    """
    outputs = subject.run(subject.batch)
    length = places(subject, outputs)
    if length is None:
        return None
    known = [(path, t) for path, t in tokens(subject, outputs) if not ((t >= 0) & (t <= 1)).all()]
    alike = [path for path, t in known if t.shape == (subject.size, length)]
    if len(known) > 1 and not alike:
        return None
    batches = [_later(subject, length, path) for path in (alike if len(known) > 1 else [None])]
    gaps = [(gap, batch) for batch in batches if (gap := _gap(subject, outputs, batch, length)) is not None]
    if not gaps:
        return None
    gap, batch = min(gaps, key=lambda pair: pair[0])
    return {"gap": gap, "site": _where(subject, batch, length) if gap > TOLERANCE else None}


def _later(subject: Subject, length: int, wanted: str | None) -> Batch:
    """The batch with other values in the second half of its sequences, or of one of them."""
    cut = length // 2

    def later(path: str, tensor: torch.Tensor) -> torch.Tensor:
        if wanted not in (None, path) or tensor.dim() < 2 or tensor.dtype == torch.bool:
            return tensor
        if tensor.shape[:2] != (subject.size, length):
            return tensor
        return torch.cat([tensor[:, :cut], tensor.roll(1, 0)[:, cut:]], 1)

    return subject.changed(later)


def _gap(subject: Subject, outputs: list[torch.Tensor], batch: Batch, length: int) -> float | None:
    """How far early outputs moved; None when the change made no difference anywhere."""
    both = zip(outputs, subject.run(batch), strict=True)
    pairs = [(a, b) for a, b in both if a.dim() == 3 and a.shape[:2] == (subject.size, length)]
    if all(torch.equal(a, b) for a, b in pairs):
        return None
    cut = length // 2
    return max(distance(a[:, :cut], b[:, :cut]) for a, b in pairs)


def _where(subject: Subject, batch: Batch, length: int) -> list[Any] | None:
    """The line of the user's that called the first module whose early outputs depend on later inputs."""
    before, after = _calls(subject, subject.batch, length), _calls(subject, batch, length)
    cut = length // 2
    for (site, mine), (_, theirs) in zip(before, after, strict=False):
        if mine.shape == theirs.shape and distance(mine[:, :cut], theirs[:, :cut]) > TOLERANCE:
            return list(site) if site.file else None
    return None


def _calls(subject: Subject, batch: Batch, length: int) -> list[tuple[Any, torch.Tensor]]:
    """The outputs with a value for each place, in the order in which modules gave them."""
    found: list[tuple[Any, torch.Tensor]] = []

    def note(module: Any, args: Any, output: Any) -> None:
        for _, tensor in tensors_in(output):
            if tensor.dim() == 3 and tensor.shape[:2] == (subject.size, length) and tensor.dtype.is_floating_point:
                found.append((user_site(), tensor.float()))

    hooks = [module.register_forward_hook(note) for module in subject.model.modules()]
    try:
        subject.run(batch)
    finally:
        for hook in hooks:
            hook.remove()
    return found
