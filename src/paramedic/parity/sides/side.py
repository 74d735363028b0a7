"""What every side can do, and which side belongs to what was handed over."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import nn

from paramedic.aliases import Args
from paramedic.errors import ParamedicError
from paramedic.parity.trace import Trace


class Side(Protocol):
    """One of two models. `double()` gives the same in float64, or raises."""

    framework: str
    label: str

    def trace(self, args: Args, kwargs: Mapping[str, object]) -> Trace: ...

    def double(self) -> Any: ...


def open_side(model: object, *, label: str) -> Side:
    """A torch module, a Keras model, (flax module, variables), an ONNX file, a SavedModel or a dump."""
    keras = sys.modules.get("keras")
    if keras is not None and isinstance(model, keras.Model):
        from paramedic.parity.sides.keras_side import KerasSide

        return KerasSide(model, label=label)
    if isinstance(model, nn.Module):
        from paramedic.parity.sides.torch_side import TorchSide

        return TorchSide(model, label=label)
    if isinstance(model, str | Path):
        return _from_file(Path(model), label)
    if type(model).__module__.startswith("onnx"):
        from paramedic.parity.sides.onnx_side import OnnxSide

        return OnnxSide(model, label=label)
    if isinstance(model, tuple) and len(model) == 2 and "flax" in sys.modules:
        from paramedic.parity.sides.flax_side import FlaxSide

        return FlaxSide(*model, label=label)
    raise ParamedicError(
        f"{label} is a {type(model).__name__}, which cannot be compared",
        expected="a torch module, a Keras model, (flax module, variables), or the path of ONNX, a SavedModel or a dump",
        fix="paramedic.compare(model_a, model_b, inputs)",
    )


def _from_file(path: Path, label: str) -> Side:
    if not path.exists():
        raise ParamedicError(f"there is no {path}", expected="an .onnx file, a SavedModel or a dump")
    if path.suffix == ".onnx":
        from paramedic.parity.sides.onnx_side import OnnxSide

        return OnnxSide(path, label=label)
    if (path / "saved_model.pb").exists():
        from paramedic.parity.sides.saved_model_side import SavedModelSide

        return SavedModelSide(path, label=label)
    if path.suffix in (".npz", ".safetensors"):
        from paramedic.parity.sides.dump import DumpSide

        return DumpSide(path, label=label)
    raise ParamedicError(
        f"{path} is no model that can be compared", expected=".onnx, a SavedModel, .npz or .safetensors dumps"
    )


def convert_inputs(inputs: object, a: Side, b: Side) -> tuple[tuple[object, ...], dict[str, object]]:
    """Positional and named inputs; None for those that a dump holds."""
    if inputs is None:
        for side in (a, b):
            held = getattr(side, "inputs", None)
            if held:
                return tuple(held), {}
        raise ParamedicError(
            "there are no inputs", expected="inputs=…, or a dump that holds them", fix="compare(a, b, inputs)"
        )
    if isinstance(inputs, Mapping):
        return (), dict(inputs)
    given = inputs if isinstance(inputs, tuple) else (inputs,)
    return tuple(torch.as_tensor(v) if hasattr(v, "__array__") else v for v in given), {}
