"""A torch model and an ONNX graph of it that is not quite right."""

from __future__ import annotations

import contextlib
import io
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn

from benchmarks.parity.case import Made, Planted, ids, images, settled
from benchmarks.parity.nets import Tagger


def head() -> nn.Module:
    torch.manual_seed(0)
    return settled(
        nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1), nn.LeakyReLU(0.1), nn.AvgPool2d(3, stride=2, padding=1), nn.Flatten(),
            nn.Linear(128, 16), nn.LayerNorm(16), nn.GELU(), nn.Linear(16, 16), nn.Softmax(1),
        )
    )  # fmt: skip


def exported(model: nn.Module, inputs: torch.Tensor) -> Any:
    import onnx

    path = Path(tempfile.mkdtemp()) / "model.onnx"
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        torch.onnx.export(model, (inputs,), str(path), dynamo=False, opset_version=20)
    return onnx.load(str(path))


def attribute(kind: str, name: str, value: Any) -> Callable[[Any], None]:
    def change(graph: Any) -> None:
        import onnx

        for node in graph.graph.node:
            if node.op_type == kind:
                kept = [a for a in node.attribute if a.name != name]
                del node.attribute[:]
                node.attribute.extend([*kept, onnx.helper.make_attribute(name, value)])

    return change


def weight(name: str, change: Callable[[Any], Any]) -> Callable[[Any], None]:
    def apply(graph: Any) -> None:
        import numpy as np
        import onnx

        for tensor in graph.graph.initializer:
            if tensor.name.endswith(name):
                new = np.ascontiguousarray(change(onnx.numpy_helper.to_array(tensor)))
                tensor.CopyFrom(onnx.numpy_helper.from_array(new, tensor.name))

    return apply


def _gates(graph: Any) -> None:
    """The gates of torch where ONNX wants its own order."""
    import numpy as np
    import onnx

    names = {name for node in graph.graph.node if node.op_type == "LSTM" for name in node.input[1:3]}
    for tensor in graph.graph.initializer:
        if tensor.name in names:
            i, o, f, c = np.split(onnx.numpy_helper.to_array(tensor), 4, axis=1)
            tensor.CopyFrom(onnx.numpy_helper.from_array(np.concatenate([i, f, o, c], axis=1), tensor.name))


def spoiled(make: Callable[[], nn.Module], inputs: torch.Tensor, change: Callable[[Any], None]) -> Callable[[], Made]:
    def made() -> Made:
        torch.manual_seed(0)
        model = settled(make())
        graph = exported(model, inputs)
        change(graph)
        return model, graph, inputs

    return made


def planted() -> list[Planted]:
    rows: list[tuple[str, str, Callable[[], Made], tuple[str, ...], tuple[str, ...]]] = [
        ("LayerNorm eps", "head", spoiled(head, images(), attribute("LayerNormalization", "epsilon", 1e-3)),
         ("5",), ("eps",)),
        ("tanh GELU", "head", spoiled(head, images(), attribute("Gelu", "approximate", "tanh")),
         ("6",), ("approximate",)),
        ("LeakyReLU slope", "head", spoiled(head, images(), attribute("LeakyRelu", "alpha", 0.01)), ("1",), ("slope",)),
        ("average at the border", "head",
         spoiled(head, images(), attribute("AveragePool", "count_include_pad", 0)), ("2",), ("count_include_pad",)),
        ("softmax over the batch", "head", spoiled(head, images(), attribute("Softmax", "axis", 0)), ("8",), ("dim",)),
        ("weight transposed", "head", spoiled(head, images(), weight("7.weight", lambda w: w.T)),
         ("7",), ("transposed",)),
        ("sign of a bias", "head", spoiled(head, images(), weight("4.bias", lambda w: -w)), ("4",), ("sign",)),
        ("gates in torch's order", "tagger", spoiled(Tagger, ids(30), _gates), ("lstm",), ("gates",)),
    ]  # fmt: skip
    return [
        Planted(name=n, architecture=a, pair="torch–ONNX", make=m, layers=where, cause=c) for n, a, m, where, c in rows
    ]
