"""What came out differs in a way that has a name: sign, scale, a missing residual, another order."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch

from paramedic.parity.causes.candidate import Candidate, Labels
from paramedic.parity.changes import Change
from paramedic.parity.measure import difference
from paramedic.parity.trace import Layer, Tensors, replaced, tensors_in

NEAR = 1e-6
Relation = tuple[str, str, Callable[[Tensors, torch.Tensor], torch.Tensor]]


def candidates(layer: Layer, wanted: torch.Tensor, labels: Labels, *, near: float = NEAR) -> Iterator[Candidate]:
    """The relations that hold between what `layer` gave and what it should have given."""
    if not layer.outputs or layer.outputs[0].shape != wanted.shape or not wanted.is_floating_point():
        return
    mine, wanted = layer.outputs[0].double(), wanted.double()
    for what, words, change in relations(layer.inputs, mine, wanted, labels):
        if difference(change(tuple(t.double() for t in layer.inputs), mine), wanted).relative <= near:
            yield Candidate(what=what, layer=layer, change=Change(words=words, on_output=_first(change)))


def relations(inputs: Tensors, mine: torch.Tensor, wanted: torch.Tensor, labels: Labels) -> Iterator[Relation]:
    a, b = labels.reference, labels.mine
    yield f"the output has the opposite sign in {b}", "its sign flipped", lambda _, out: -out
    scale = float((mine * wanted).sum() / (mine * mine).sum().clamp_min(1e-300))
    yield (
        f"the output of {a} is {scale:.6g} times that of {b}",
        f"the output times {scale:.6g}",
        lambda _, out: out * scale,
    )
    shift = float((wanted - mine).mean())
    yield f"the output of {a} is larger by {shift:.6g}", f"{shift:.6g} added to the output", lambda _, out: out + shift
    for number, given in enumerate(inputs):
        if given.shape == mine.shape and given.is_floating_point():
            yield (
                f"{a} adds input {number} to the output (a residual), {b} does not",
                "the residual added",
                bound(lambda ins, out, n: out + ins[n], number),
            )
            yield (
                f"{b} adds input {number} to the output (a residual), {a} does not",
                "the residual left out",
                bound(lambda ins, out, n: out - ins[n], number),
            )
    for name, function in ACTIVATIONS.items():
        yield (
            f"{a} applies {name} to the output, {b} does not",
            f"{name} applied to the output",
            (bound(lambda _, out, f: f(out), function)),
        )
    for axis in range(mine.dim()):
        yield (
            f"the output is reversed along axis {axis}",
            f"the output flipped along axis {axis}",
            bound(lambda _, out, axis: out.flip(axis), axis),
        )
        yield (
            f"the output is shifted by one along axis {axis}",
            f"the output rolled along axis {axis}",
            bound(lambda _, out, axis: out.roll(1, axis), axis),
        )
        yield (
            f"the output is shifted by one along axis {axis}",
            f"the output rolled back along axis {axis}",
            bound(lambda _, out, axis: out.roll(-1, axis), axis),
        )
    yield from _permuted(mine, wanted)


def bound(function: Callable[..., torch.Tensor], *values: object) -> Callable[[Tensors, torch.Tensor], torch.Tensor]:
    """With the values that a loop has now."""
    return lambda ins, out: function(ins, out, *values)


ACTIVATIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "relu": torch.relu,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "softmax": lambda t: t.softmax(-1),
    "log_softmax": lambda t: t.log_softmax(-1),
    "gelu": torch.nn.functional.gelu,
    "silu": torch.nn.functional.silu,
}


def _permuted(mine: torch.Tensor, wanted: torch.Tensor) -> Iterator[Relation]:
    """The same slices along one axis, in another order."""
    for axis in range(mine.dim()):
        x, y = (t.movedim(axis, 0).reshape(t.shape[axis], -1) for t in (mine, wanted))
        if not 2 <= x.shape[0] <= 4096:
            continue
        order = torch.cdist(y, x).argmin(1)
        if len(set(order.tolist())) == len(order) and not torch.equal(order, torch.arange(len(order))):
            yield (
                f"the output holds the same slices of axis {axis} in another order",
                f"axis {axis} of the output reordered",
                bound(lambda _, out, axis, order: out.index_select(axis, order), axis, order),
            )
    for i in range(mine.dim()):
        for j in range(i + 1, mine.dim()):
            if mine.shape[i] == mine.shape[j]:
                yield (
                    f"axes {i} and {j} of the output are swapped",
                    f"axes {i} and {j} of the output swapped",
                    bound(lambda _, out, i, j: out.transpose(i, j), i, j),
                )


def _first(change: Callable[[Tensors, torch.Tensor], torch.Tensor]) -> Callable[[Tensors, object], object]:
    """Only the first tensor of what came out is changed."""

    def apply(inputs: Tensors, output: object) -> object:
        parts = list(tensors_in(output))
        return replaced(output, iter([change(inputs, parts[0]), *parts[1:]]))

    return apply
