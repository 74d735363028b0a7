"""A TensorFlow SavedModel: operations that share a scope with variables are a layer, every other one is its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from paramedic.aliases import Args
from paramedic.errors import ParamedicError
from paramedic.parity.fitting import channels_as_in
from paramedic.parity.sides import frozen_graph
from paramedic.parity.sides.frozen_graph import FrozenGraph
from paramedic.parity.sides.graph_layers import Group, groups_of
from paramedic.parity.trace import Layer, Trace


class SavedModelSide:
    framework = "tensorflow"

    def __init__(self, model: Path | FrozenGraph, *, label: str, double: bool = False) -> None:
        self.label, self.is_double = label, double
        self.graph = frozen_graph.load(model) if isinstance(model, Path) else model

    def double(self) -> SavedModelSide:
        return SavedModelSide(frozen_graph.widened(self.graph), label=self.label, double=True)

    def trace(self, args: Args, kwargs: Mapping[str, object]) -> Trace:
        arrays = self.graph.run(self._feeds(args, kwargs))
        values = {name: torch.as_tensor(array) for name, array in arrays.items()}
        calls: Counter[str] = Counter()
        layers = []
        for group in groups_of(self.graph, values):
            layer = _layer(group, values, set(self.graph.outputs))
            if layer.outputs:
                layer.call = calls[layer.name]
                calls[layer.name] += 1
                layers.append(layer)
        outputs = tuple(values[name] for name in self.graph.outputs if name in values)
        return Trace(layers=layers, outputs=outputs, double=self.is_double)

    def _feeds(self, args: Args, kwargs: Mapping[str, object]) -> dict[str, Any]:
        names = [tensor.op.name for tensor in self.graph.inputs]
        given = list(args) or [kwargs.get(name) for name in names]
        if len(given) != len(names) or any(value is None for value in given):
            raise ParamedicError(
                f"{len(args) or len(kwargs)} inputs were given to a SavedModel with {len(names)}: {', '.join(names)}",
                expected=f"{len(names)} inputs, in this order or by these names",
            )
        return {wanted.name: self._array(value, wanted) for wanted, value in zip(self.graph.inputs, given, strict=True)}

    def _array(self, value: Any, wanted: Any) -> Any:
        """With the channels where the graph wants them, in its type."""
        tensor = torch.as_tensor(value).detach().cpu()
        if wanted.shape.rank is not None:
            tensor = channels_as_in(tensor, tuple(wanted.shape.as_list()))
        if not wanted.shape.is_compatible_with(tuple(tensor.shape)):
            raise ParamedicError(
                f"an input of shape {tuple(tensor.shape)} was given to {wanted.op.name} of a SavedModel",
                expected=f"shape {tuple(wanted.shape)}",
            )
        wide = self.is_double and wanted.dtype.is_floating
        return tensor.contiguous().numpy().astype("float64" if wide else wanted.dtype.as_numpy_dtype)


def _layer(group: Group, values: Mapping[str, torch.Tensor], last: set[str]) -> Layer:
    """What comes in from elsewhere, and what is used elsewhere."""
    inside = {op.name for op in group.operations}
    inputs = [t.name for op in group.operations for t in op.inputs if t.op.name not in inside]
    outputs = [
        t.name
        for op in reversed(group.operations)
        for t in op.outputs
        if t.name in last or any(user.name not in inside for user in t.consumers())
    ]
    return Layer(
        name=group.name,
        kind=group.kind,
        inputs=tuple(values[name] for name in dict.fromkeys(inputs) if name in values and name not in group.constants),
        outputs=tuple(values[name] for name in outputs if name in values and values[name].is_floating_point()),
        parameters=group.parameters,
        settings=group.settings,
    )


def weights_of(path: Path) -> dict[str, Group]:
    """The layers that have parameters, by name; the model itself is not run."""
    graph = frozen_graph.load(path)
    values = {name: torch.as_tensor(array) for name, array in graph.run({}, only=graph.constants).items()}
    return {group.name: group for group in groups_of(graph, values) if group.parameters}
