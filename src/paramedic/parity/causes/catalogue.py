"""What frameworks do differently by default: tried one after the other where no setting can be read off."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
import torch.nn.functional as F

from paramedic.aliases import Args, Kwargs
from paramedic.parity.causes.candidate import Candidate, Labels, shown
from paramedic.parity.changes import Change
from paramedic.parity.kinds import canonical
from paramedic.parity.trace import Layer

EPS = (1e-3, 1e-5, 1e-6, 1e-7, 1e-8, 1e-12, 1e-2, 1e-1, 1.1920928955078125e-07, 1e-4)
VALUES: dict[str, dict[str, tuple[Any, ...]]] = {
    "batch-norm": {"eps": EPS, "training": (True, False)},
    "layer-norm": {"eps": EPS},
    "group-norm": {"eps": EPS, "num_groups": (1, 2, 4, 8, 16, 32)},
    "rms-norm": {"eps": EPS, "variance_epsilon": EPS},
    "gelu": {"approximate": ("tanh", "none")},
    "leaky-relu": {"negative_slope": (0.3, 0.2, 0.01, 0.1)},
    "elu": {"alpha": (1.0, 0.5, 1.6732632423543772)},
    "avg-pool": {"count_include_pad": (True, False), "ceil_mode": (True, False)},
    "max-pool": {"ceil_mode": (True, False)},
    "resize": {"align_corners": (True, False), "mode": ("nearest-exact", "nearest", "bilinear", "bicubic")},
    "softmax": {"dim": (-1, 1, 0, 2)},
    "attention": {"num_heads": (1, 2, 4, 8)},
    "dropout": {"p": (0.0,), "training": (False, True)},
}
# where the default differs between frameworks, and between which
DEFAULTS = {
    ("batch-norm", "eps"): "1e-5 in torch, Flax and ONNX, 1e-3 in Keras",
    ("layer-norm", "eps"): "1e-5 in torch and ONNX, 1e-3 in Keras, 1e-6 in Flax",
    ("group-norm", "eps"): "1e-5 in torch and ONNX, 1e-3 in Keras, 1e-6 in Flax",
    ("rms-norm", "eps"): "1.2e-7 in torch, 1e-6 in Keras and Flax",
    ("gelu", "approximate"): "erf in torch, Keras and ONNX, tanh in JAX",
    ("leaky-relu", "negative_slope"): "0.01 in torch, JAX and ONNX, 0.3 in a Keras layer",
    ("avg-pool", "count_include_pad"): "padding counts in torch and Flax, not in Keras and ONNX",
    ("resize", "mode"): "nearest means floor in torch, half-pixel in Keras",
}


def candidates(layer: Layer, labels: Labels) -> Iterator[Candidate]:
    kind = canonical(layer.kind)
    if layer.is_op:
        yield from _operation(layer, kind, labels)
        return
    for name, values in VALUES.get(kind, {}).items():
        if name not in layer.settings and name != "training":
            continue
        for value in values:
            if value != layer.settings.get(name):
                yield Candidate(
                    what=labels.versus(name, value, layer.settings.get(name)),
                    layer=layer,
                    change=Change(words=f"{name}={shown(value)}", settings=((name, value),)),
                )
    if kind in ("conv", "max-pool", "avg-pool"):
        yield from _padding(layer, labels)
    yield from _weights(layer, kind, labels)


def default_of(kind: str, setting: str) -> str:
    """What is known about the defaults of this setting, or nothing."""
    return DEFAULTS.get((canonical(kind), setting), "")


def _operation(layer: Layer, kind: str, labels: Labels) -> Iterator[Candidate]:
    """The same call with another value for one argument."""
    function = layer.settings["function"]
    for name, values in VALUES.get(kind, {}).items():
        for value in values:
            given = layer.settings.get(name)
            if value == given or (name == "dim" and layer.outputs and abs(value) > layer.outputs[0].dim() - 1):
                continue

            def call(args: Args, kwargs: Kwargs, name: str = name, value: Any = value) -> Any:
                rest = args[:1] if name == "dim" else args
                return function(*rest, **{**kwargs, name: value})

            yield Candidate(
                what=f"{layer.kind}: " + labels.versus(name, value, given if given is not None else "left out"),
                layer=layer,
                change=Change(words=f"{layer.kind}({name}={shown(value)})", operation=call),
            )


def _padding(layer: Layer, labels: Labels) -> Iterator[Candidate]:
    """SAME of Keras and Flax pads more on the right and at the bottom when the stride is above 1."""
    size, stride = layer.settings.get("kernel_size"), layer.settings.get("stride")
    if not layer.inputs or size is None:
        return
    axes = layer.inputs[0].dim() - 2
    sizes = tuple(size) if isinstance(size, tuple) else (size,) * axes
    strides = tuple(stride) if isinstance(stride, tuple) else (stride,) * axes
    amounts: list[int] = []
    for extent, k, s in zip(layer.inputs[0].shape[2:], sizes, strides, strict=True):
        total = max((-(-extent // s) - 1) * s + k - extent, 0)
        amounts = [total // 2, total - total // 2, *amounts]
    fill = float("-inf") if canonical(layer.kind) == "max-pool" else 0.0

    def pad(args: Args, kwargs: Kwargs) -> tuple[Args, Kwargs]:
        return (F.pad(args[0], amounts, value=fill), *args[1:]), kwargs

    none = (0,) * axes if isinstance(layer.settings.get("padding"), tuple) else 0
    told = labels.versus("padding", f"SAME, {tuple(amounts)}", layer.settings.get("padding"))
    change = Change(words=f"F.pad(x, {tuple(amounts)}) and padding=0", settings=(("padding", none),), on_input=pad)
    yield Candidate(what=told, layer=layer, change=change)
    for value in (0, *(k // 2 for k in sizes[:1])):
        full = (value,) * axes if isinstance(none, tuple) else value
        yield Candidate(
            what=labels.versus("padding", value, layer.settings.get("padding")),
            layer=layer,
            change=Change(words=f"padding={value}", settings=(("padding", full),)),
        )


def _weights(layer: Layer, kind: str, labels: Labels) -> Iterator[Candidate]:
    """Parameters as another framework may have read them."""
    weight = layer.parameters.get("weight")
    if weight is None:
        return
    tried: list[tuple[str, torch.Tensor]] = []
    flattened = "the picture before it is flattened with channels first on one side and last on the other"
    if weight.dim() == 2 and weight.shape[0] == weight.shape[1]:
        tried.append(("weight is transposed", weight.t()))
    if weight.dim() == 4:
        tried += [("the kernel is flipped", weight.flip(2, 3)), ("the kernel's axes are swapped", weight.mT)]
        if weight.shape[0] == weight.shape[1]:
            tried.append(("input and output channels are swapped", weight.transpose(0, 1)))
    if kind == "rms-norm":
        tried += [("the weight counts as 1 + weight", weight + 1), ("the weight counts as weight - 1", weight - 1)]
    if kind == "linear":
        tried += [(flattened, value) for value in _flattened(weight)]
    for what, value in tried:
        if value.shape == weight.shape:
            words = "the weight's columns in that order" if what is flattened else "its weight changed accordingly"
            change = Change(words=words, parameters=(("weight", value.contiguous()),))
            told = what if what is flattened else f"{what} in {labels.reference}"
            yield Candidate(what=told, layer=layer, change=change)
    if layer.parameters.get("bias") is not None:
        nothing = torch.zeros_like(layer.parameters["bias"])
        change = Change(words="no bias", parameters=(("bias", nothing),))
        yield Candidate(what=f"{labels.reference} has no bias", layer=layer, change=change)


def _flattened(weight: torch.Tensor) -> Iterator[torch.Tensor]:
    """A picture flattened with its channels last, read by weights for channels first, or the other way round."""
    out, width = weight.shape
    for side in range(2, int(width**0.5) + 1):
        if width % (side * side) == 0 and (channels := width // (side * side)) > 1:
            yield weight.reshape(out, side, side, channels).permute(0, 3, 1, 2).reshape(out, width)
            yield weight.reshape(out, channels, side, side).permute(0, 2, 3, 1).reshape(out, width)
