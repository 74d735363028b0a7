"""A forward pass that was written elsewhere: an .npz or .safetensors file with the layers in order.

Its arrays are called
    inputs/0                              what the model got
    layers/0003/encoder.norm/input/0      what the fourth layer got and gave
    layers/0003/encoder.norm/output/0
    layers/0003/encoder.norm/parameter/gamma
    outputs/0
and `meta`, which may be left out, is JSON: {"encoder.norm": {"kind": "LayerNormalization", "eps": 0.001}}, as a string
array in an .npz file, as metadata in a .safetensors file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch

from paramedic.aliases import Args, Fields
from paramedic.errors import ParamedicError
from paramedic.parity.sides.torch_side import _is_setting
from paramedic.parity.trace import Layer, Trace
from paramedic.parity.weights.layouts import to_torch


class DumpSide:
    framework = "dump"

    def __init__(self, path: Path, *, label: str) -> None:
        self.label = label
        self.arrays, self.meta = read(path)
        self.inputs = [self.arrays[name] for name in _ordered(self.arrays, "inputs/")]
        if not any(name.startswith("layers/") for name in self.arrays):
            raise ParamedicError(
                f"{path} holds no layers",
                expected="arrays such as layers/0003/encoder.norm/output/0; see docs/compare.md",
                fix="compare checkpoints with: paramedic compare a.safetensors b.safetensors",
            )

    def double(self) -> DumpSide:
        if any(t.dtype == torch.float32 for t in self.arrays.values()):
            raise ValueError("the dump was computed in float32")
        return self

    def trace(self, args: Args, kwargs: Mapping[str, object]) -> Trace:
        found: dict[str, Layer] = {}
        for key in sorted(name for name in self.arrays if name.startswith("layers/")):
            words = key.split("/")
            name, role, last = "/".join(words[2:-2]), words[-2], words[-1]
            layer = found.setdefault(words[1], self._layer(name, [x.name for x in found.values()]))
            if role == "input":
                layer.inputs = (*layer.inputs, self.arrays[key])
            elif role == "output":
                layer.outputs = (*layer.outputs, self.arrays[key])
            elif role == "parameter":
                layer.parameters = {**layer.parameters, last: self.arrays[key]}
        for layer in found.values():
            layer.parameters = to_torch(layer.kind, layer.parameters)
        layers = list(found.values())
        outputs = tuple(self.arrays[name] for name in _ordered(self.arrays, "outputs/"))
        floats = [t.dtype for t in self.arrays.values() if t.is_floating_point()]
        narrow = torch.float64 if all(t == torch.float64 for t in floats) else torch.float32
        return Trace(
            layers=layers, outputs=outputs or layers[-1].outputs[:1], double=narrow == torch.float64, dtype=narrow
        )

    def _layer(self, name: str, before: list[str]) -> Layer:
        known = dict(self.meta.get(name, {}))
        return Layer(name=name, kind=str(known.pop("kind", "")), call=before.count(name), settings=known)


def read(path: Path) -> tuple[dict[str, torch.Tensor], Fields]:
    """The arrays and what is said about them. Nothing is unpickled."""
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: torch.as_tensor(file[name]) for name in file.files if name != "meta"}
            return arrays, json.loads(str(file["meta"])) if "meta" in file.files else {}
    try:
        from safetensors import safe_open
    except ImportError:
        raise ParamedicError(
            "safetensors is not installed", fix="pip install 'paramedic[parity]', or write an .npz"
        ) from None
    with safe_open(str(path), framework="pt") as file:
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        return arrays, json.loads((file.metadata() or {}).get("meta", "{}"))


def write(trace: Trace, inputs: tuple[object, ...], path: Path) -> None:
    """The forward pass of a side that is live here, to be compared elsewhere."""
    arrays: Fields = {f"inputs/{n}": torch.as_tensor(value) for n, value in enumerate(inputs)}
    meta: Fields = {}
    for number, layer in enumerate(trace.leaves):
        start = f"layers/{number:04d}/{layer.name}"
        parts = (("input", enumerate(layer.inputs)), ("output", enumerate(layer.outputs)))
        for role, tensors in (*parts, ("parameter", layer.parameters.items())):
            arrays |= {f"{start}/{role}/{key}": tensor for key, tensor in tensors}
        simple = {n: v for n, v in layer.settings.items() if _is_setting(v)}
        meta[layer.name] = {"kind": layer.kind, **simple}
    arrays |= {f"outputs/{n}": tensor for n, tensor in enumerate(trace.outputs)}
    held: Fields = {n: np.asarray(t.float() if t.dtype == torch.bfloat16 else t) for n, t in arrays.items()}
    np.savez(path, **held, meta=json.dumps(meta))


def _ordered(names: Mapping[str, object], start: str) -> list[str]:
    return sorted((name for name in names if name.startswith(start)), key=lambda name: int(name.rpartition("/")[2]))
