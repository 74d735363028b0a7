"""Layers of Keras, Flax and ONNX in torch's layout, and back. Tensors by the names of each framework.

The gates: torch has i f g o and r z n; Keras i f c o and z r h; ONNX i o f c and z r h.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch

from paramedic.parity.kinds import canonical

Tensors = Mapping[str, torch.Tensor]
NORMS = {"gamma": "weight", "beta": "bias", "scale": "weight", "bias": "bias", "moving_mean": "running_mean",
         "moving_variance": "running_var", "mean": "running_mean", "var": "running_var"}  # fmt: skip


def to_torch(kind: str, tensors: Tensors) -> dict[str, torch.Tensor]:
    """A layer of Keras or Flax as torch would hold it. What is not known is passed on as it is."""
    form = canonical(kind)
    if any(name.startswith(("weight", "in_proj", "out_proj")) for name in tensors):
        return dict(tensors)  # torch's own already
    if "query.kernel" in tensors or "query_kernel" in tensors:
        return _attention(
            {name.replace("_kernel", ".kernel").replace("_bias", ".bias"): t for name, t in tensors.items()}
        )
    if form == "lstm":
        return _lstm(tensors)
    if form == "gru":
        return _gru(tensors)
    if "embeddings" in tensors or "embedding" in tensors:
        return {"weight": tensors["embeddings" if "embeddings" in tensors else "embedding"]}
    if "kernel" in tensors:
        rest = {name: t for name, t in tensors.items() if name not in ("kernel", "bias")}
        bias = {"bias": tensors["bias"].flatten()} if "bias" in tensors else {}
        return {"weight": _kernel(form, tensors["kernel"], kind), **bias, **rest}
    return {NORMS.get(name, name): t for name, t in tensors.items()}


def from_torch(kind: str, tensors: Tensors, like: Tensors) -> dict[str, torch.Tensor]:
    """A layer of torch as Keras or Flax holds it; `like` are the tensors that it has now."""
    form = canonical(kind)
    if "query.kernel" in like or "query_kernel" in like:
        return _attention_back(tensors, like)
    if form in ("lstm", "gru"):
        return _recurrent_back(form, tensors, like)
    if "embeddings" in like or "embedding" in like:
        return {next(iter(like)): tensors["weight"]}
    if "kernel" in like:
        bias = {"bias": tensors["bias"]} if "bias" in tensors and "bias" in like else {}
        return {"kernel": _kernel_back(form, tensors["weight"], like["kernel"]), **bias}
    return {name: tensors[NORMS.get(name, name)] for name in like if NORMS.get(name, name) in tensors}


def _kernel(form: str, kernel: torch.Tensor, kind: str) -> torch.Tensor:
    axes = kernel.dim()
    if form == "depthwise":
        height, width, channels, many = kernel.shape
        return kernel.permute(2, 3, 0, 1).reshape(channels * many, 1, height, width)
    if axes == 2:
        return kernel.t()
    if form == "linear":  # DenseGeneral, EinsumDense
        return kernel.reshape(kernel.shape[0], -1).t()
    # spatial axes first, then in and out: out (or in, of a transposed convolution) comes first in torch
    return kernel.permute(axes - 1, axes - 2, *range(axes - 2))


def _kernel_back(form: str, weight: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    axes = like.dim()
    if form == "depthwise":
        height, width, channels, many = like.shape
        return weight.reshape(channels, many, height, width).permute(2, 3, 0, 1)
    if axes == 2 or form == "linear":
        return weight.t().reshape(like.shape)
    return weight.permute(*range(2, axes), 1, 0)


def reordered(tensor: torch.Tensor, order: tuple[int, ...]) -> torch.Tensor:
    """Gates along the first axis in another order."""
    parts = tensor.chunk(len(order))
    return torch.cat([parts[i] for i in order])


def _lstm(tensors: Tensors) -> dict[str, torch.Tensor]:
    if "ii.kernel" in tensors:  # Flax
        gates = "ifgo"
        bias = torch.cat([tensors[f"h{g}.bias"] for g in gates])
        return {
            "weight_ih_l0": torch.cat([tensors[f"i{g}.kernel"].t() for g in gates]),
            "weight_hh_l0": torch.cat([tensors[f"h{g}.kernel"].t() for g in gates]),
            "bias_ih_l0": bias,
            "bias_hh_l0": torch.zeros_like(bias),
        }
    found = {"weight_ih_l0": tensors["kernel"].t(), "weight_hh_l0": tensors["recurrent_kernel"].t()}
    if "bias" in tensors:
        found |= {"bias_ih_l0": tensors["bias"], "bias_hh_l0": torch.zeros_like(tensors["bias"])}
    return found


def _gru(tensors: Tensors) -> dict[str, torch.Tensor]:
    if "ir.kernel" in tensors:  # Flax: a bias on the input side and on hn only
        given = torch.cat([tensors[f"i{g}.bias"] for g in "rzn"])
        new = tensors["hn.bias"]
        return {
            "weight_ih_l0": torch.cat([tensors[f"i{g}.kernel"].t() for g in "rzn"]),
            "weight_hh_l0": torch.cat([tensors[f"h{g}.kernel"].t() for g in "rzn"]),
            "bias_ih_l0": given,
            "bias_hh_l0": torch.cat([torch.zeros_like(new), torch.zeros_like(new), new]),
        }
    order = (1, 0, 2)  # z r h to r z n
    found = {
        "weight_ih_l0": reordered(tensors["kernel"].t(), order),
        "weight_hh_l0": reordered(tensors["recurrent_kernel"].t(), order),
    }
    if "bias" in tensors:
        both = tensors["bias"] if tensors["bias"].dim() == 2 else torch.stack([tensors["bias"], 0 * tensors["bias"]])
        found |= {"bias_ih_l0": reordered(both[0], order), "bias_hh_l0": reordered(both[1], order)}
    return found


def _recurrent_back(form: str, tensors: Tensors, like: Tensors) -> dict[str, torch.Tensor]:
    """Keras has one bias for LSTM, Flax puts it on the hidden side."""
    gates = "ifgo" if form == "lstm" else "rzn"
    wide, deep = tensors["weight_ih_l0"], tensors["weight_hh_l0"]
    zero = torch.zeros(wide.shape[0], dtype=wide.dtype)
    one, two = tensors.get("bias_ih_l0", zero), tensors.get("bias_hh_l0", zero)
    if "kernel" not in like:  # Flax
        found = {}
        for number, gate in enumerate(gates):
            found[f"i{gate}.kernel"] = wide.chunk(len(gates))[number].t()
            found[f"h{gate}.kernel"] = deep.chunk(len(gates))[number].t()
            first, second = one.chunk(len(gates))[number], two.chunk(len(gates))[number]
            alone = form == "gru" and gate == "n"  # its reset gate works on the hidden bias
            if f"i{gate}.bias" in like:
                found[f"i{gate}.bias"] = first if alone else first + second
            if f"h{gate}.bias" in like:
                found[f"h{gate}.bias"] = second if alone else first + second
        return found
    if form == "lstm":
        return {"kernel": wide.t(), "recurrent_kernel": deep.t(), "bias": one + two}
    order = (1, 0, 2)
    return {
        "kernel": reordered(wide, order).t(),
        "recurrent_kernel": reordered(deep, order).t(),
        "bias": torch.stack([reordered(one, order), reordered(two, order)]),
    }


def _attention(tensors: Tensors) -> dict[str, torch.Tensor]:
    width = tensors["query.kernel"].shape[0]
    out = next(name for name in ("out", "attention_output") if f"{name}.kernel" in tensors)
    found = {
        "in_proj_weight": torch.cat([tensors[f"{n}.kernel"].reshape(width, -1).t() for n in ("query", "key", "value")]),
        "out_proj.weight": tensors[f"{out}.kernel"].reshape(-1, tensors[f"{out}.kernel"].shape[-1]).t(),
    }
    if "query.bias" in tensors:
        found["in_proj_bias"] = torch.cat([tensors[f"{n}.bias"].flatten() for n in ("query", "key", "value")])
    if f"{out}.bias" in tensors:
        found["out_proj.bias"] = tensors[f"{out}.bias"]
    return found


def _attention_back(tensors: Tensors, like: Tensors) -> dict[str, torch.Tensor]:
    found: dict[str, torch.Tensor] = {}
    for number, name in enumerate(("query", "key", "value")):
        for old, part in (("kernel", "in_proj_weight"), ("bias", "in_proj_bias")):
            key = f"{name}.{old}" if f"{name}.{old}" in like else f"{name}_{old}"
            if part in tensors and key in like:
                chunk = tensors[part].chunk(3)[number]
                found[key] = (chunk.t() if old == "kernel" else chunk).reshape(like[key].shape)
    for out in ("out", "attention_output"):
        for dot in (".", "_"):
            if f"{out}{dot}kernel" in like:
                found[f"{out}{dot}kernel"] = tensors["out_proj.weight"].t().reshape(like[f"{out}{dot}kernel"].shape)
                if f"{out}{dot}bias" in like:
                    found[f"{out}{dot}bias"] = tensors["out_proj.bias"]
    return found


def from_onnx(kind: str, tensors: Tensors) -> dict[str, torch.Tensor]:
    """LSTM and GRU of ONNX: W (directions, gates, in), R, and B with both biases in one row."""
    order = (0, 2, 3, 1) if canonical(kind) == "lstm" else (1, 0, 2)  # i o f c to i f g o; z r h to r z n
    found: dict[str, torch.Tensor] = {}
    for direction in range(tensors["W"].shape[0]):
        end = "l0_reverse" if direction else "l0"
        found[f"weight_ih_{end}"] = reordered(tensors["W"][direction], order)
        found[f"weight_hh_{end}"] = reordered(tensors["R"][direction], order)
        if "B" in tensors:
            one, two = tensors["B"][direction].chunk(2)
            found[f"bias_ih_{end}"], found[f"bias_hh_{end}"] = reordered(one, order), reordered(two, order)
    return found
