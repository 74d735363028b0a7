"""An ONNX graph: every node is a layer. onnxruntime runs it as it is, onnx's reference evaluator in float64."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from paramedic.aliases import Args, Fields
from paramedic.errors import ParamedicError
from paramedic.parity.trace import Layer, Trace
from paramedic.parity.weights.layouts import from_onnx

ROLES = {
    "Conv": ("", "weight", "bias"),
    "ConvTranspose": ("", "weight", "bias"),
    "LayerNormalization": ("", "weight", "bias"),
    "RMSNormalization": ("", "weight"),
    "InstanceNormalization": ("", "weight", "bias"),
    "GroupNormalization": ("", "weight", "bias"),
    "BatchNormalization": ("", "weight", "bias", "running_mean", "running_var"),
    "Gather": ("weight", ""),
    "LSTM": ("", "W", "R", "B"),
    "GRU": ("", "W", "R", "B"),
    "PRelu": ("", "weight"),
}
SETTINGS = {
    "epsilon": "eps", "strides": "stride", "dilations": "dilation", "group": "groups", "kernel_shape": "kernel_size",
    "alpha": "negative_slope", "approximate": "approximate", "axis": "dim",
}  # fmt: skip
DEFAULTS: dict[str, Fields] = {
    "LayerNormalization": {"epsilon": 1e-5},
    "BatchNormalization": {"epsilon": 1e-5},
    "GroupNormalization": {"epsilon": 1e-5},
    "LeakyRelu": {"alpha": 0.01},
    "Gelu": {"approximate": "none"},
    "AveragePool": {"count_include_pad": 0},
}


class OnnxSide:
    framework = "onnx"

    def __init__(self, model: Any, *, label: str, double: bool = False) -> None:
        try:
            import onnx
        except ImportError:
            raise ParamedicError(
                "onnx is not installed, so an ONNX model cannot be read", fix="pip install 'paramedic[parity]'"
            ) from None
        self.label, self.is_double = label, double
        self.model = onnx.load(str(model)) if isinstance(model, str | Path) else model

    def double(self) -> OnnxSide:
        return OnnxSide(_widened(self.model), label=self.label, double=True)

    def trace(self, args: Args, kwargs: Mapping[str, Any]) -> Trace:
        feeds = self._feeds(args, kwargs)
        values = self._run(feeds)
        values |= {name: torch.as_tensor(value) for name, value in feeds.items()}
        weights = {t.name: _tensor(t) for t in self.model.graph.initializer}
        weights |= {n.output[0]: _tensor(n.attribute[0].t) for n in self.model.graph.node if n.op_type == "Constant"}
        layers = [_layer(node, values, weights) for node in self.model.graph.node if node.op_type != "Constant"]
        layers = _fused([layer for layer in layers if layer.outputs])
        outputs = tuple(values[o.name] for o in self.model.graph.output if o.name in values)
        return Trace(layers=layers, outputs=outputs, double=self.is_double)

    def _feeds(self, args: Args, kwargs: Mapping[str, Any]) -> dict[str, Any]:
        held = {t.name for t in self.model.graph.initializer}
        names = [i.name for i in self.model.graph.input if i.name not in held]
        given = list(args) or [kwargs.get(name) for name in names]
        if len(given) < len(names):
            raise ParamedicError(f"the ONNX graph has inputs {', '.join(names)}", expected=f"{len(names)} inputs")
        wide = np.float64 if self.is_double else np.float32
        arrays = [torch.as_tensor(value).detach().cpu().numpy() for value in given]
        arrays = [a.astype(wide) if np.issubdtype(a.dtype, np.floating) else a for a in arrays]
        return dict(zip(names, arrays, strict=False))

    def _run(self, feeds: Fields) -> dict[str, torch.Tensor]:
        """All that any node gives."""
        import onnx
        from onnx.reference import ReferenceEvaluator

        model = copy.deepcopy(self.model)
        names = [name for node in model.graph.node for name in node.output if name]
        if self.is_double:
            del model.graph.output[:]
            model.graph.output.extend(onnx.helper.make_empty_tensor_value_info(name) for name in names)
            results = ReferenceEvaluator(model).run(None, feeds)
        else:
            results = _by_runtime(model, names, feeds)
        return {n: torch.as_tensor(np.array(v)) for n, v in zip(names, results, strict=True) if _is_numbers(v)}


def _by_runtime(model: Any, names: list[str], feeds: Fields) -> list[Any]:
    import onnx

    try:
        import onnxruntime
    except ImportError:
        raise ParamedicError("onnxruntime is not installed", fix="pip install 'paramedic[parity]'") from None
    known = {output.name for output in model.graph.output}
    model.graph.output.extend(onnx.helper.make_empty_tensor_value_info(n) for n in names if n not in known)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    providers = ["CPUExecutionProvider"]
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=providers)
    except Exception as error:  # its exceptions are RuntimeErrors of many kinds
        said = str(error).splitlines()[0].rpartition(") ")[2]
        raise ParamedicError(
            f"onnxruntime cannot load this model: {said}",
            expected="a model that the installed version of onnxruntime can run",
            fix="pip install --upgrade onnxruntime, or export for an older version of ONNX",
        ) from None
    return list(session.run(names, feeds))


def _layer(node: Any, values: Mapping[str, torch.Tensor], weights: Mapping[str, torch.Tensor]) -> Layer:
    import onnx

    given = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    known = {**DEFAULTS.get(node.op_type, {}), **given}
    settings = {SETTINGS.get(name, name): _plain(value) for name, value in known.items()}
    if "pads" in settings and len(set(settings["pads"])) == 1:
        settings["padding"] = settings["pads"][0]
    if "count_include_pad" in settings:
        settings["count_include_pad"] = bool(settings["count_include_pad"])
    return Layer(
        name=node.name or (node.output[0] if node.output else ""),
        kind=node.op_type,
        inputs=tuple(values[name] for name in node.input if name in values and name not in weights),
        outputs=tuple(values[name] for name in node.output if name in values),
        parameters=_parameters(node, weights, given),
        settings=settings,
    )


def _parameters(node: Any, weights: Mapping[str, torch.Tensor], given: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    held = {place: weights[name] for place, name in enumerate(node.input) if name in weights}
    if node.op_type == "Gemm" and 1 in held:
        found = {"weight": held[1] if given.get("transB") else held[1].t()}
        return found | ({"bias": held[2]} if 2 in held else {})
    if node.op_type == "MatMul" and 1 in held and held[1].dim() == 2:
        return {"weight": held[1].t()}
    if node.op_type == "Add" and held:
        _place, bias = next(iter(held.items()))
        return {"bias": bias} if bias.dim() == 1 else {}
    roles = ROLES.get(node.op_type, ())
    named = {roles[place]: tensor for place, tensor in held.items() if place < len(roles) and roles[place]}
    return from_onnx(node.op_type, named) if node.op_type in ("LSTM", "GRU") and "W" in named else named


def _fused(layers: list[Layer]) -> list[Layer]:
    """A product with weights and the bias that is added to it are one linear layer."""
    found: list[Layer] = []
    for layer in layers:
        before = found[-1] if found else None
        if (
            before is not None
            and before.kind == "MatMul"
            and "weight" in before.parameters
            and layer.kind == "Add"
            and "bias" in layer.parameters
            and any(t is before.outputs[0] for t in layer.inputs)
        ):
            before.outputs = layer.outputs
            before.parameters = {**before.parameters, "bias": layer.parameters["bias"]}
            before.kind = "Linear"
        else:
            found.append(layer)
    return found


def _widened(model: Any) -> Any:
    """The same graph with float64 where it has float32."""
    import onnx

    wide = copy.deepcopy(model)
    narrow, double = onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE
    for tensor in wide.graph.initializer:
        if tensor.data_type == narrow:
            tensor.CopyFrom(onnx.numpy_helper.from_array(_tensor(tensor).double().numpy(), tensor.name))
    for value in (*wide.graph.input, *wide.graph.output, *wide.graph.value_info):
        if value.type.tensor_type.elem_type == narrow:
            value.type.tensor_type.elem_type = double
    for node in wide.graph.node:
        for attribute in node.attribute:
            if attribute.name == "to" and attribute.i == narrow:
                attribute.i = double
            if attribute.type == onnx.AttributeProto.TENSOR and attribute.t.data_type == narrow:
                attribute.t.CopyFrom(onnx.numpy_helper.from_array(_tensor(attribute.t).double().numpy()))
    return wide


def _tensor(proto: object) -> torch.Tensor:
    import onnx

    return torch.as_tensor(np.array(onnx.numpy_helper.to_array(proto)))


def _plain(value: object) -> Any:
    return value.decode() if isinstance(value, bytes) else value


def _is_numbers(value: object) -> bool:
    return isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "fiub"
