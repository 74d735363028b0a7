"""Does a model see later tokens? And where in the user's code does it begin to?"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import nn

from paramedic.aliases import Args
from paramedic.capture.active.questions import TOLERANCE, Batch, Subject, distance, places, tokens, unflattened
from paramedic.capture.code.masks import triangle_at
from paramedic.program.tensors import tensors_in
from paramedic.program.where import user_site
from paramedic.record.writer import Site


def future(subject: Subject) -> dict[str, object] | None:
    """By how much outputs change at the places before a change of the inputs: 0 for a causal model.

    Of several sequences one may be a source that the model is meant to see as a whole. Those that are as long as the
    output are then changed one by one, and the least influence counts: the answer must hold for the one that is
    predicted, whichever it is.
    """
    outputs = unflattened(subject, subject.run(subject.batch))
    length = places(subject, outputs)
    if length is None:
        return None
    known = [(path, t) for path, t in tokens(subject, outputs) if not ((t >= 0) & (t <= 1)).all()]
    alike = [path for path, t in known if t.shape == (subject.size, length)]
    if not known or (len(known) > 1 and not alike):
        return None  # such as an encoder that is called by itself, with what an embedding has made of tokens
    paths = alike if len(known) > 1 else [None]
    batches = [_later(subject, length, path, length // 2) for path in paths]
    gaps = [(gap, b) for b in batches if (gap := _gap(subject, outputs, b, length, length // 2)) is not None]
    if not gaps:
        return None
    gap, batch = min(gaps, key=lambda pair: pair[0])
    if gap > TOLERANCE:  # a prefix may be seen as a whole, as a question before its answer: what of the last place?
        lasts = [_gap(subject, outputs, _later(subject, length, p, length - 1), length, length - 1) for p in paths]
        gap = min([gap, *(last for last in lasts if last is not None)])
    site, mask = _where(subject, batch, length) if gap > TOLERANCE else (None, None)
    return {"gap": gap, "site": site and list(site), "mask": mask and list(mask)}


def _later(subject: Subject, length: int, wanted: str | None, cut: int) -> Batch:
    """The batch with other values from a place of its sequences on, or of one of them."""

    def later(path: str, tensor: torch.Tensor) -> torch.Tensor:
        if wanted not in (None, path) or tensor.dim() < 2 or tensor.dtype == torch.bool:
            return tensor
        if tensor.shape[:2] != (subject.size, length):
            return tensor
        return torch.cat([tensor[:, :cut], tensor.roll(1, 0)[:, cut:]], 1)

    return subject.changed(later)


def _gap(subject: Subject, outputs: list[torch.Tensor], batch: Batch, length: int, cut: int) -> float | None:
    """How far early outputs moved; None when the change made no difference anywhere."""
    both = zip(outputs, unflattened(subject, subject.run(batch)), strict=True)
    pairs = [(a, b) for a, b in both if a.dim() == 3 and a.shape[:2] == (subject.size, length)]
    if all(torch.equal(a, b) for a, b in pairs):
        return None
    return max(distance(a[:, :cut], b[:, :cut]) for a, b in pairs)


def _where(subject: Subject, batch: Batch, length: int) -> tuple[Site | None, Site | None]:
    """The line of the user's that called the first module whose early outputs depend on later inputs.

    And the line that made the mask which lets them through: one that the call was given, or, if the module was handed
    the leak by what lies before it, one that its function has used by then.
    """
    before, after = _calls(subject, subject.batch, length), _calls(subject, batch, length)
    cut = length // 2
    for mine, theirs in zip(before, after, strict=False):
        if _differ(mine.output, theirs.output, cut):
            handed = mine.given is not None and theirs.given is not None and _differ(mine.given, theirs.given, cut)
            return (mine.site, triangle_at(mine.site, above=handed)) if mine.site.file else (None, None)
    return None, None


def _differ(mine: torch.Tensor, theirs: torch.Tensor, cut: int) -> bool:
    return mine.shape == theirs.shape and distance(mine[:, :cut], theirs[:, :cut]) > TOLERANCE


class _Made(NamedTuple):
    """An output with a value for each place, the line that asked for it, and what the module made it from."""

    site: Site
    output: torch.Tensor
    given: torch.Tensor | None


def _calls(subject: Subject, batch: Batch, length: int) -> list[_Made]:
    """In the order in which modules gave them."""
    found: list[_Made] = []

    def by_place(values: object) -> list[torch.Tensor]:
        whole = [t for _, t in tensors_in(values) if t.dim() == 3 and t.shape[:2] == (subject.size, length)]
        return [tensor.float() for tensor in whole if tensor.dtype.is_floating_point]

    def note(module: nn.Module, args: Args, output: object) -> None:
        given = next(iter(by_place(args)), None)
        found.extend(_Made(user_site(), tensor, given) for tensor in by_place(output))

    hooks = [module.register_forward_hook(note) for module in subject.model.modules()]
    try:
        subject.run(batch)
    finally:
        for hook in hooks:
            hook.remove()
    return found
