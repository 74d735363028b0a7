"""A layer that is handed something else: an inverted mask, a tensor of another place, a missing residual."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from paramedic.aliases import Args, Fields, Function, Kwargs
from paramedic.parity.alignment import Pair
from paramedic.parity.causes.candidate import Candidate, Labels
from paramedic.parity.causes.outputs import relations
from paramedic.parity.changes import Change
from paramedic.parity.fitting import like
from paramedic.parity.locate import Fault, Matched
from paramedic.parity.measure import difference
from paramedic.parity.trace import Layer, Tensors, replaced, tensors_in


def candidates(fault: Fault, matched: Matched, labels: Labels, *, near: float) -> Iterator[Candidate]:
    """What would make the inputs of the layer behind the guilty lines right."""
    if fault.before is None or fault.before.b.is_op:
        return
    for number, mine in enumerate(fault.before.b.inputs):
        wanted = _wanted(fault.before, number, matched)
        if wanted is None or difference(mine, wanted).relative <= near:
            continue
        for what, words, change in _repairs(fault, mine, wanted, labels, near):
            yield Candidate(
                what=f"{_argument(fault.before.b, number)} of {fault.before.b.title}: {what}",
                layer=fault.before.b,
                change=Change(words=words, on_input=_at(number, change)),
            )


Repair = tuple[str, str, Callable[[torch.Tensor], torch.Tensor]]


def _repairs(fault: Fault, mine: torch.Tensor, wanted: torch.Tensor, labels: Labels, near: float) -> Iterator[Repair]:
    if mine.dtype == torch.bool:
        if torch.equal(~mine, wanted.bool()):
            yield "the mask is inverted", "the mask inverted", lambda t: ~t
        return
    if not mine.is_floating_point():
        shift = (wanted.long() - mine.long()).flatten()
        if shift.numel() and bool((shift == shift[0]).all()):
            by = int(shift[0])
            yield f"the indices are {abs(by)} too {'low' if by > 0 else 'high'}", f"{by} added", lambda t: t + by
        return
    gap = wanted.double() - mine.double()
    for name, part in _parts(fault.container.b):
        if part.shape != mine.shape:
            continue
        for sign, verb in ((1.0, "adds"), (-1.0, "subtracts")):
            if difference(gap, sign * part.double()).relative <= near:
                who, other = labels.reference, labels.mine
                yield (
                    f"{who} {verb} {name} (a residual), {other} does not",
                    f"{name} {'added' if sign > 0 else 'subtracted'}",
                    _adds(part, sign),
                )
    for what, words, change in relations((), mine.double(), wanted.double(), labels):
        if difference(change((), mine.double()), wanted.double()).relative <= near:
            told = what.replace("the output", "it")
            yield told, words.replace("the output", "it"), _of(change)


def _adds(part: torch.Tensor, sign: float) -> Callable[[torch.Tensor], torch.Tensor]:
    return lambda t: t + sign * part.to(t.dtype)


def _of(change: Callable[[Tensors, torch.Tensor], torch.Tensor]) -> Callable[[torch.Tensor], torch.Tensor]:
    return lambda t: change((), t)


def _parts(container: Layer) -> Iterator[tuple[str, torch.Tensor]]:
    for number, given in enumerate(container.inputs):
        if given.is_floating_point():
            yield f"input {number} of {container.title}", given
    for child in container.children:
        for out in child.outputs[:1]:
            if out.is_floating_point():
                yield f"the output of {child.title}", out


def _wanted(pair: Pair, number: int, matched: Matched) -> torch.Tensor | None:
    mine, other = pair.b.inputs, pair.a.inputs
    if number >= len(other):
        return None
    return like(mine[number], other[number], crossing=matched.crossing)


def _at(number: int, change: Callable[[torch.Tensor], torch.Tensor]) -> Function:
    def apply(args: Args, kwargs: Kwargs) -> tuple[tuple[Any, ...], Fields]:
        given: Tensors = tuple(tensors_in((args, kwargs)))
        new = iter([change(t) if n == number else t for n, t in enumerate(given)])
        return replaced(args, new), replaced(kwargs, new)

    return apply


def _argument(layer: Layer, number: int) -> str:
    """attn_mask, or input 1."""
    named = [name for name, value in layer.kwargs.items() for _ in tensors_in(value)]
    first = len(layer.inputs) - len(named)
    return named[number - first] if number >= first else f"input {number}"
