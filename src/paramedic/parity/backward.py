"""Gradients of both sides for the same cotangents: of every parameter, and of what every layer gave."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from paramedic.aliases import Args, Kwargs
from paramedic.parity.comparison import Comparison, LayerResult
from paramedic.parity.measure import difference
from paramedic.parity.rounding import EXACT, SINGLE
from paramedic.parity.sides.side import Side, convert_inputs, open_side
from paramedic.parity.sides.torch_side import TorchSide
from paramedic.parity.trace import tensors_in
from paramedic.parity.weights.layouts import to_torch

Gradients = dict[tuple[str, str], torch.Tensor]  # by layer and parameter; "output" for what the layer gave
FLOOR = 1e-6  # of the largest gradient: what is smaller is zero by construction, such as of a bias before BatchNorm


def add_gradients(
    found: Comparison, a: object, b: object, inputs: object, *, names: Mapping[str, str] | None = None
) -> None:
    """Put the gradients that differ into the comparison, in the order in which backward computes them."""
    if not found.agrees:
        found.notes.append("gradients were not compared, because the outputs differ already")
        return
    sides = open_side(a, label="a"), open_side(b, label="b")
    args, kwargs = convert_inputs(inputs, *sides)
    if isinstance(sides[0], TorchSide) and isinstance(sides[1], TorchSide):
        sides[1].tape = sides[0].tape
    mine, other = (_gradients(side, args, kwargs) for side in sides)
    for side, held in zip(sides, (mine, other), strict=True):
        if held is None:
            found.notes.append(f"{side.label} ({side.framework}) gives no gradients, so none were compared")
    if mine is None or other is None:
        return
    crossing = sides[0].framework != sides[1].framework
    allowed = EXACT if not crossing else SINGLE
    largest = max([float(t.norm()) for t in (*mine.values(), *other.values())], default=0.0)
    results = []
    for row in reversed(found.layers):
        results += _compared(row, mine, other, allowed, FLOOR * largest, crossing=crossing)
    found.gradients = results
    if results:
        found.verdict = "differ"
        found.sentence = f"The outputs agree, the gradients do not: first, in the order of backward, in {results[0].b}."
    else:
        found.notes.append(f"gradients of {len(mine)} tensors were compared and agree")


def _compared(
    row: LayerResult, a: Gradients, b: Gradients, allowed: float, scale: float, *, crossing: bool
) -> list[LayerResult]:
    results = []
    keys = [key for layer, key in {**a, **{(row.a, k): t for (n, k), t in b.items() if n == row.b}} if layer == row.a]
    for key in dict.fromkeys(keys):
        mine, other = a.get((row.a, key)), b.get((row.b, key))
        if crossing and (mine is None or other is None or key == "output" or key.startswith("bias_")):
            continue  # what one framework does not show, or holds as a sum, is not a difference
        none = torch.zeros_like(other if mine is None else mine)
        error = difference(none if mine is None else mine, none if other is None else other, scale=scale).relative
        if error > allowed:
            results.append(
                LayerResult(a=row.a, b=row.b, kind=row.kind, evidence=_how(key, mine, other), error=error, local=None)
            )
    return results


def _how(key: str, mine: torch.Tensor | None, other: torch.Tensor | None) -> str:
    for label, tensor in (("a", mine), ("b", other)):
        if tensor is None or not bool(tensor.any()):
            return f"{key}: no gradient arrives in {label}"
    assert mine is not None and other is not None
    scale = float((mine * other).sum() / (mine * mine).sum())
    if difference(scale * mine, other).relative < 1e-6:
        return f"{key}: that of b is {scale:.6g} times that of a"
    return key


def _gradients(side: Side, args: Args, kwargs: Kwargs) -> Gradients | None:
    if isinstance(side, TorchSide):
        return _of_torch(side, args, kwargs)
    if side.framework == "keras" and sys.modules["keras"].backend.backend() == "torch":
        return _of_keras(side, args, kwargs)
    if side.framework == "flax":
        return _of_flax(side, args, kwargs)
    return None


def _cotangent(outputs: list[torch.Tensor]) -> torch.Tensor:
    """A sum over all outputs with fixed random weights: every output counts."""
    random = torch.Generator().manual_seed(0)
    total = torch.zeros((), dtype=torch.float64)
    for tensor in outputs:
        if tensor.is_floating_point():
            total = total + (tensor.double() * torch.randn(tensor.shape, generator=random, dtype=torch.float64)).sum()
    return total


def _of_torch(side: TorchSide, args: Args, kwargs: Kwargs) -> Gradients:
    double = side.double()
    kept: Gradients = {}
    calls: dict[str, int] = {}

    def hook(name: str) -> Any:
        def seen(module: nn.Module, given: object, output: object) -> None:
            number = calls[name] = calls.get(name, -1) + 1
            title = name if number == 0 else f"{name} (call {number + 1})"
            for tensor in list(tensors_in(output))[:1]:
                if tensor.requires_grad:
                    tensor.register_hook(lambda grad: kept.__setitem__((title, "output"), grad.detach().clone()))

        return seen

    handles = [module.register_forward_hook(hook(name)) for module, name in double._names.items()]
    double.tape.position = 0
    given, named = double._converted(args), double._converted(kwargs)
    with double._surroundings():
        outputs = double.model(*given, **named)
        _cotangent(list(tensors_in(outputs))).backward()
    double.tape.recorded = True
    for handle in handles:
        handle.remove()
    for name, parameter in double.model.named_parameters():
        if parameter.grad is not None:
            owner, _, last = name.rpartition(".")
            kept[_owner(double, owner, last)] = parameter.grad.detach()
    return kept


def _owner(side: TorchSide, owner: str, last: str) -> tuple[str, str]:
    """Attention owns the weights of its output projection."""
    if owner.endswith("out_proj") and isinstance(side.module(owner.rpartition(".")[0]), torch.nn.MultiheadAttention):
        return owner.rpartition(".")[0], f"out_proj.{last}"
    return owner, last


def _of_keras(side: Any, args: Args, kwargs: Kwargs) -> Gradients:
    from paramedic.parity.sides.keras_side import _double
    from paramedic.parity.weights.holders import _leaf_layers

    double = side.double()
    with _double():
        given = [double._given(value, number) for number, value in enumerate(args)]
        outputs = double.model(*(given if len(given) == 1 else [given]), training=False, **kwargs)
        tensors = [_channels_first(t) for t in tensors_in(outputs)]
        _cotangent(tensors).backward()
    kept: Gradients = {}
    for layer in _leaf_layers(double.model):
        attention = hasattr(layer, "_query_dense")
        held = {}
        for variable in layer.weights:
            words = variable.path.split("/")
            grad = variable.value.grad
            if grad is not None:
                held[".".join(words[-2:]) if attention else words[-1]] = grad.detach()
        if held:
            kept |= {(layer.name, key): t for key, t in to_torch(type(layer).__name__, held).items()}
    return kept


def _of_flax(side: Any, args: Args, kwargs: Kwargs) -> Gradients:
    import jax
    import numpy as np

    from paramedic.parity.sides.flax_side import flat

    double = side.double()
    given = [double._given(value) for value in args]
    random = torch.Generator().manual_seed(0)
    shape = torch.as_tensor(np.array(double.module.apply(double.variables, *given, **kwargs))).shape
    weights = torch.randn(shape, generator=random, dtype=torch.float64).numpy()
    rest = {name: tree for name, tree in double.variables.items() if name != "params"}

    def total(params: object) -> object:
        return (double.module.apply({"params": params, **rest}, *given, **kwargs) * weights).sum()

    trace = double.trace(args, kwargs)
    grads = {"params": jax.grad(total)(double.variables["params"])}
    kept: Gradients = {}
    for layer in trace.leaves:
        tree: Any = grads["params"]
        for word in layer.name.split("."):
            tree = tree.get(word, {})
        if tree:
            kept |= {(layer.name, key): t for key, t in to_torch(layer.kind, flat(tree)).items()}
    return kept


def _channels_first(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.movedim(-1, 1) if tensor.dim() == 4 else tensor
