"""Which operations of a TensorFlow graph make up a layer, and what that layer is."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from paramedic.parity.kinds import canonical
from paramedic.parity.sides.frozen_graph import FUSED_NORM, FrozenGraph
from paramedic.parity.sides.graph_settings import settings_of
from paramedic.parity.weights.layouts import to_torch

CALLS = re.compile(r"(?:Stateful)?PartitionedCall(?:_\d+)?/")
PRODUCTS = {
    "MatMul": "Dense", "BatchMatMul": "Dense", "BatchMatMulV2": "Dense", "BatchMatMulV3": "Dense",
    "Einsum": "EinsumDense", "Conv2D": "Conv2D", "Conv3D": "Conv3D", "DepthwiseConv2dNative": "DepthwiseConv2D",
    "Conv2DBackpropInput": "Conv2DTranspose",
}  # fmt: skip
KINDS = {
    **PRODUCTS, "AddV2": "Add", "ConcatV2": "Concat", "Mean": "ReduceMean", "GatherV2": "Gather",
    "ResizeBilinear": "Resize", "ResizeNearestNeighbor": "Resize", "ResizeBicubic": "Resize", FUSED_NORM: "BatchNorm",
}  # fmt: skip
SUMS = {"BiasAdd", "Add", "AddV2"}
MOVES = {"Reshape", "Squeeze", "ExpandDims", "Transpose", "SpaceToBatchND", "BatchToSpaceND"}
SILENT = {"Identity", "IdentityN", "StopGradient", "Cast", "Placeholder", "NoOp"}
WRITTEN_OUT = {"gelu", "silu", "softmax"}  # activations that may be several operations, in a scope of that name
NORM_INPUTS = ("", "weight", "bias", "running_mean", "running_var")


@dataclass(slots=True, kw_only=True)
class Group:
    """Operations that are one layer to people."""

    name: str
    kind: str
    operations: list[Any]
    constants: Collection[str]  # tensors of the graph that no input has an influence on
    parameters: Mapping[str, torch.Tensor] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class _Scope:
    """Where a layer with variables has its operations."""

    name: str  # of the layer, as its variables are called
    weights: dict[str, torch.Tensor] = field(default_factory=dict)  # kernel, bias, gamma …

    @property
    def is_whole(self) -> bool:
        """A norm, a recurrent layer or an embedding is one layer however many operations it takes."""
        return "kernel" not in self.weights or "recurrent_kernel" in self.weights


def groups_of(graph: FrozenGraph, values: Mapping[str, torch.Tensor]) -> list[Group]:
    """In the order in which they end."""
    constants = graph.constants
    scopes = _scopes(graph, values, constants)
    gathered: dict[str, list[object]] = {}
    for op in graph.operations:
        if op.type in SILENT or not op.outputs or op.outputs[0].name in constants:
            continue
        key = _key(op, scopes, gathered, constants)
        gathered[key] = [*gathered.pop(key, []), op]
    found = []
    model = _model_scope(gathered)
    for key, ops in gathered.items():
        scope, kind = scopes.get(key), _kind(key, ops, scopes.get(key))
        around = [op for op in graph.operations if op.name.startswith(f"{key}/")] if scope else ops
        found.append(
            Group(
                name=scope.name if scope else CALLS.sub("", key).removeprefix(model),
                kind=kind.removeprefix("Depthwise"),
                operations=ops,
                constants=constants,
                parameters=to_torch(kind, _held(ops, scope, values, constants)),
                settings=settings_of(ops, around, values),
            )
        )
    return found


def _scopes(graph: FrozenGraph, values: Mapping[str, torch.Tensor], constants: set[str]) -> dict[str, _Scope]:
    """By the path of the scope. A variable called encoder/norm/gamma is read in …/norm_1/…"""
    found: dict[str, _Scope] = {}
    paths = {name: path.split("/") for name, path in graph.variables.items()}
    root = _root(graph)
    for op in graph.operations:
        path = paths.get(op.name)
        if path is None or len(path) < 2:
            continue
        owner = path[:-2] if path[-2].endswith("_cell") and len(path) > 2 else path[:-1]
        shown = "/".join(owner[1:] if owner[0] == root else owner)
        for scope in {_scope_in(user.name, owner[-1]) for user in _readers(op, constants)} - {""}:
            found.setdefault(scope, _Scope(shown)).weights[path[-1]] = values[op.outputs[0].name]
    return found


def _readers(op: Any, constants: set[str]) -> list[Any]:
    """Operations that read it, also behind casts and reshapes."""
    found, waiting = [], [op]
    while waiting:
        for output in waiting.pop().outputs:
            for user in output.consumers():
                found.append(user)
                if user.outputs and user.outputs[0].name in constants:
                    waiting.append(user)
    return found


def _scope_in(path: str, owner: str) -> str:
    words = path.split("/")
    ends = [n for n, word in enumerate(words[:-1]) if re.fullmatch(rf"{re.escape(owner)}(_\d+)?", word)]
    return "/".join(words[: ends[-1] + 1]) if ends else ""


def _key(op: Any, scopes: Mapping[str, _Scope], gathered: Mapping[str, list[Any]], constants: set[str]) -> str:
    """What the operation belongs to: a layer with variables, an activation written out, or only itself."""
    words = op.name.split("/")
    for end in range(len(words) - 1, 0, -1):
        path = "/".join(words[:end])
        scope = scopes.get(path)
        if scope is not None and (scope.is_whole or op.type in PRODUCTS or op.type in MOVES or _is_bias(op, constants)):
            return path
        if canonical(re.sub(r"_\d+$", "", words[end - 1])) in WRITTEN_OUT:
            return path
        if scope is not None:
            break
    if _is_bias(op, constants):
        before = next((t.op.name for t in op.inputs if t.name not in constants), "")
        if before in gathered and gathered[before][-1].type in PRODUCTS:
            return before
    return str(op.name)


def _is_bias(op: Any, constants: set[str]) -> bool:
    fixed = [t for t in op.inputs if t.name in constants]
    return op.type in SUMS and len(fixed) == 1 and fixed[0].shape.rank not in (None, 0)


def _model_scope(paths: Collection[str]) -> str:
    """sequential_1/, where everything is in the scope of one model."""
    first = {CALLS.sub("", path).partition("/")[::2] for path in paths}
    names = {name for name, _ in first}
    return f"{names.pop()}/" if len(names) == 1 and all(rest for _, rest in first) else ""


def _root(graph: FrozenGraph) -> str:
    """What all variables are called first: the name of the model."""
    first = {path.partition("/")[0] for path in graph.variables.values() if path.count("/") > 1}
    return first.pop() if len(first) == 1 and all(p.count("/") > 1 for p in graph.variables.values()) else ""


def _kind(key: str, ops: list[Any], scope: _Scope | None) -> str:
    types = [op.type for op in ops]
    product = next((PRODUCTS[t] for t in types if t in PRODUCTS), None)
    if scope is None:
        return KINDS.get(types[0], types[0]) if len(ops) == 1 or product else re.sub(r"_\d+$", "", key.split("/")[-1])
    held = scope.weights
    if "recurrent_kernel" in held:
        gates = held["recurrent_kernel"].shape[-1] // held["recurrent_kernel"].shape[0]
        return {4: "LSTM", 3: "GRU"}.get(gates, "SimpleRNN")
    if "moving_mean" in held or FUSED_NORM in types:
        return "BatchNormalization"
    if "embeddings" in held:
        return "Embedding"
    if "gamma" in held or "beta" in held or "scale" in held:
        centred = "SquaredDifference" in types
        return (
            "RMSNormalization" if not centred else "GroupNormalization" if "Reshape" in types else "LayerNormalization"
        )
    return product or KINDS.get(types[-1], types[-1])


def _held(
    ops: list[Any], scope: _Scope | None, values: Mapping[str, torch.Tensor], constants: set[str]
) -> dict[str, torch.Tensor]:
    """Weights under the names of Keras. A kernel with axes for heads is the matrix that it is multiplied as."""
    if scope is None:
        return _read_off(ops, values, constants)
    kernel = scope.weights.get("kernel")
    for op in ops if kernel is not None and kernel.dim() == 3 else []:
        if PRODUCTS.get(op.type) == "Dense" and op.inputs[1].name in constants:
            return {**scope.weights, "kernel": values[op.inputs[1].name]}
        if op.type == "Einsum" and kernel is not None:
            given, own, result = re.split(",|->", op.get_attr("equation").decode())
            summed = sum(letter in given and letter not in result for letter in own)  # abcd,cde->abe: two
            return {**scope.weights, "kernel": kernel.flatten(0, summed - 1).flatten(1)}
    return scope.weights


def _read_off(ops: list[Any], values: Mapping[str, torch.Tensor], constants: set[str]) -> dict[str, torch.Tensor]:
    """Parameters of a layer whose variables have no names that say so."""
    first = ops[0]
    fixed = {place: values[t.name] for place, t in enumerate(first.inputs) if t.name in constants}
    if first.type == FUSED_NORM:
        return {NORM_INPUTS[place]: tensor for place, tensor in fixed.items()}
    if first.type not in PRODUCTS or 1 not in fixed:
        return {}
    turned = first.type == "MatMul" and first.get_attr("transpose_b")
    found = {"kernel": fixed[1].t() if turned else fixed[1]}
    for op in ops[1:]:
        found["bias"] = next(values[t.name] for t in op.inputs if t.name in constants)
    return found
