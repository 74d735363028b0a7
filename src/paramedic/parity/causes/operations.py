"""Calls between layers: the same call with other arguments, another function, a call too many, a call too few."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from paramedic.aliases import Args, Kwargs
from paramedic.parity.alignment import Pair
from paramedic.parity.causes.candidate import Candidate, Labels, differing, shown
from paramedic.parity.changes import Change
from paramedic.parity.locate import Fault, Matched, order_of
from paramedic.parity.measure import difference
from paramedic.parity.trace import Layer, replaced, tensors_in


def candidates(fault: Fault, matched: Matched, labels: Labels) -> Iterator[Candidate]:
    for pair in fault.suspects[:6]:
        if pair.a.is_op:
            yield _as_the_other(pair, labels)
    for layer in fault.unmatched:
        if layer.is_op and layer in fault.container.b.children:
            yield from _left_out(layer, labels)
    for layer in fault.unmatched:
        if layer.is_op and layer not in fault.container.b.children:
            yield from _put_in(layer, matched, labels)


def _as_the_other(pair: Pair, labels: Labels) -> Candidate:
    """The call as the reference makes it, on this side's tensors."""
    other, mine = pair.a, pair.b
    function = other.settings["function"]
    order = order_of(mine.inputs, other.inputs, 1e-9) or range(len(other.inputs))

    def call(args: Args, kwargs: Kwargs) -> Any:
        held = list(tensors_in((args, kwargs)))
        given = iter([held[number] for number in order])
        return function(*replaced(other.args, given), **replaced(dict(other.kwargs), given))

    names = [name for name in differing(other.settings, mine.settings) if name != "function"]
    only = {name for name in {*other.settings, *mine.settings} if (name in other.settings) != (name in mine.settings)}
    if other.kind != mine.kind:
        first, second = sorted([(labels.reference, other.kind), (labels.mine, mine.kind)])
        what = f"{first[0]} calls {first[1]} where {second[0]} calls {second[1]}"
    elif names or only:
        every = [*names, *sorted(only)]
        told = [
            labels.versus(_argument(n), other.settings.get(n, "left out"), mine.settings.get(n, "left out"))
            for n in every
        ]
        what = f"{mine.kind}: " + "; ".join(told)
    else:
        what = f"{mine.kind} gets its tensors in another order"
    return Candidate(
        what=what + _at(mine),
        layer=mine,
        change=Change(
            words=_call(other) if list(order) == sorted(order) else "its tensors in that order", operation=call
        ),
    )


def _left_out(layer: Layer, labels: Labels) -> Iterator[Candidate]:
    """A call that only this side makes."""
    for number, given in enumerate(layer.inputs):
        if not layer.outputs or given.shape != layer.outputs[0].shape:
            continue

        def skip(args: Args, kwargs: Kwargs, number: int = number) -> object:
            return list(tensors_in((args, kwargs)))[number]

        what = f"{labels.mine} calls {_call(layer)}{_at(layer)}, {labels.reference} does not"
        yield Candidate(what=what, layer=layer, change=Change(words=f"{layer.kind} left out", operation=skip))


def _put_in(layer: Layer, matched: Matched, labels: Labels) -> Iterator[Candidate]:
    """A call that only the reference makes, on tensors that this side has as well."""
    if not layer.inputs or not layer.outputs:
        return
    have = [_held(tensor, matched) for tensor in layer.inputs]
    if any(place is None for place in have):
        return
    function = layer.settings["function"]
    what = f"{labels.reference} calls {_call(layer)}{_at(layer)}, {labels.mine} does not"
    last = max((place for place in have if place is not None), key=lambda place: place[0])
    main = have.index(last)

    def apply(value: torch.Tensor) -> object:
        tensors = [place[2].to(value.dtype) if place else value for place in have]
        given = iter([value if number == main else tensor for number, tensor in enumerate(tensors)])
        return function(*replaced(layer.args, given), **replaced(dict(layer.kwargs), given))

    yield Candidate(what=what, layer=last[1], change=_behind(last[1], apply, f"{layer.kind} put in"))


def _held(tensor: torch.Tensor, matched: Matched) -> tuple[int, Layer, torch.Tensor] | None:
    """Where this side computes the tensor: the last layer that gives it."""
    found = None
    for number, mine in enumerate(matched.actor.layers):
        if mine.name and mine.outputs and difference(mine.outputs[0], tensor).relative < 1e-9:
            found = number, mine, mine.outputs[0]
            if mine.leaf:
                break
    return found


def _behind(layer: Layer, apply: Callable[[torch.Tensor], Any], words: str) -> Change:
    if layer.is_op:
        function = layer.settings["function"]
        return Change(words=words, operation=lambda args, kwargs: apply(function(*args, **kwargs)))
    return Change(words=words, on_output=lambda _, out: apply(out))


def _call(layer: Layer) -> str:
    """softmax(…, dim=-1)"""
    given = [shown(v) if n.isdigit() else f"{n}={shown(v)}" for n, v in layer.settings.items() if n != "function"]
    return f"{layer.kind}({', '.join(['…', *given])})"


def _argument(name: str) -> str:
    return f"argument {name}" if name.isdigit() else name


def _at(layer: Layer) -> str:
    return f" ({layer.place})" if layer.place else ""
