"""What a layer of a TensorFlow graph is set to, with torch's names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from paramedic.aliases import Fields
from paramedic.parity.sides.frozen_graph import FUSED_NORM, meant

WINDOWS = {"Conv2D", "DepthwiseConv2dNative", "Conv3D", "MaxPool", "AvgPool", "Conv2DBackpropInput"}


def settings_of(ops: Sequence[Any], around: Sequence[object], values: Mapping[str, torch.Tensor]) -> Fields:
    """`around` are all operations in its scope, also those that only constants go into."""
    found: Fields = {}
    for op in ops:
        if op.type in WINDOWS:
            found |= _window(op, values)
        elif op.type == "LeakyRelu":
            found["negative_slope"] = float(op.get_attr("alpha"))  # as float32 holds it, also in float64
        elif op.type == FUSED_NORM:
            found["eps"] = meant(op.get_attr("epsilon"))
        elif op.type in ("Erf", "Erfc", "Tanh") and len(ops) > 1:
            found["approximate"] = "tanh" if op.type == "Tanh" else "none"
        elif op.type.startswith("Resize"):
            found["align_corners"] = bool(op.get_attr("align_corners"))
    return found | _eps(around, values)


def _eps(around: Sequence[Any], values: Mapping[str, torch.Tensor]) -> dict[str, Any]:
    """What is added to a variance before its root is taken."""
    for op in around:
        before = op.inputs[0].op if op.type in ("Rsqrt", "Sqrt") else None
        if before is not None and before.type in ("Add", "AddV2"):
            for given in before.inputs:
                if given.op.type == "Const" and given.shape.rank == 0:
                    return {"eps": meant(float(values[given.name]))}
    return {}


def _window(op: Any, values: Mapping[str, torch.Tensor]) -> Fields:
    """Convolutions and pooling: sizes along the axes of the picture."""
    last = op.get_attr("data_format").decode().endswith("C")
    axes = slice(1, -1) if last else slice(2, None)
    padding = op.get_attr("padding").decode().lower()
    found: Fields = {"stride": tuple(op.get_attr("strides")[axes])}
    if padding in ("same", "valid"):
        found["padding"] = 0 if padding == "valid" else "same"
    if op.type in ("MaxPool", "AvgPool"):
        return found | {"kernel_size": tuple(op.get_attr("ksize")[axes])}
    found["dilation"] = tuple(op.get_attr("dilations")[axes])
    kernel = values.get(op.inputs[1].name)
    return found | ({"kernel_size": tuple(kernel.shape[:-2])} if kernel is not None else {})
