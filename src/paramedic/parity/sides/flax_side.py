"""A Flax linen module with its variables: every call of every module is intercepted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch
from torch import nn

from paramedic.aliases import Args, Fields
from paramedic.parity.trace import Layer, Trace
from paramedic.parity.weights.layouts import to_torch

SETTINGS = {
    "epsilon": "eps", "strides": "stride", "kernel_size": "kernel_size", "padding": "padding", "num_heads": "num_heads",
    "feature_group_count": "groups", "kernel_dilation": "dilation", "negative_slope": "negative_slope", "rate": "p",
}  # fmt: skip


class FlaxSide:
    framework = "flax"

    def __init__(self, module: nn.Module, variables: Any, *, label: str, double: bool = False) -> None:
        self.module, self.variables, self.label, self.is_double = module, variables, label, double

    def double(self) -> FlaxSide:
        import jax

        jax.config.update("jax_enable_x64", True)
        wide = jax.tree.map(
            lambda v: np.asarray(v, np.float64) if np.asarray(v).dtype.kind == "f" else v, self.variables
        )
        return FlaxSide(self.module, wide, label=self.label, double=True)

    def trace(self, args: Args, kwargs: Mapping[str, object]) -> Trace:
        import flax.linen as nn
        import jax

        layers: list[Layer] = []
        pending: list[Layer] = []
        calls: dict[str, int] = defaultdict(int)

        def seen(call: Any, call_args: Any, call_kwargs: Any, context: Any) -> object:
            if context.method_name != "__call__" or not context.module.path:
                return call(*call_args, **call_kwargs)
            name = ".".join(context.module.path)
            entry = Layer(
                name=name,
                kind=type(context.module).__name__,
                call=calls[name],
                inputs=tuple(_tensors((call_args, call_kwargs))),
                settings=_settings(context.module),
            )
            calls[name] += 1
            pending.append(entry)
            result = call(*call_args, **call_kwargs)
            pending.pop()
            entry.outputs = tuple(_tensors(result))
            entry.leaf = not entry.children
            if entry.leaf or "Attention" in entry.kind or "LSTM" in entry.kind or "GRU" in entry.kind:
                entry.parameters = to_torch(entry.kind, self._weights(context.module.path))
            if pending:
                pending[-1].children.append(entry)
            layers.append(entry)
            return result

        given = [self._given(value) for value in args]
        with jax.disable_jit(), nn.intercept_methods(seen):
            outputs = self.module.apply(self.variables, *given, **kwargs)
        return Trace(layers=_closed(layers), outputs=tuple(_tensors(outputs)), double=self.is_double)

    def _given(self, value: object) -> Any:
        array = torch.as_tensor(value).detach().cpu()
        if array.dim() == 4:
            array = array.movedim(1, -1)  # channels last
        found = array.contiguous().numpy()
        return found.astype(np.float64 if self.is_double else np.float32) if found.dtype.kind == "f" else found

    def _weights(self, path: tuple[str, ...]) -> dict[str, torch.Tensor]:
        found: dict[str, torch.Tensor] = {}
        for tree in self.variables.values():
            for word in path:
                tree = tree.get(word, {}) if hasattr(tree, "get") else {}
            found |= flat(tree)
        return found


def flat(tree: Any, before: str = "") -> dict[str, torch.Tensor]:
    """Nested dictionaries of arrays as one, with dotted names."""
    found: dict[str, torch.Tensor] = {}
    for name, value in tree.items():
        if hasattr(value, "items"):
            found |= flat(value, f"{before}{name}.")
        else:
            found[f"{before}{name}"] = torch.as_tensor(np.array(value))
    return found


def _closed(layers: list[Layer]) -> list[Layer]:
    """Attention is one layer in torch: what happens inside it is left out."""
    inside = {id(child) for layer in layers if "Attention" in layer.kind for child in layer.children}
    for layer in layers:
        if "Attention" in layer.kind:
            layer.children, layer.leaf = [], True
    return [layer for layer in layers if id(layer) not in inside]


def _settings(module: object) -> Fields:
    found = {new: getattr(module, old) for old, new in SETTINGS.items() if hasattr(module, old)}
    return {name: value for name, value in found.items() if isinstance(value, int | float | str | tuple | bool)}


def _tensors(value: object) -> Iterator[torch.Tensor]:
    import jax

    for leaf in jax.tree.leaves(value):
        if hasattr(leaf, "shape"):
            yield torch.as_tensor(np.array(leaf))
