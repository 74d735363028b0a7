"""A TensorFlow SavedModel as one flat graph: calls inlined, variables as constants, also with float64 for float32."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from paramedic.errors import ParamedicError

FUSED_NORM = "FusedBatchNormV3"
ROOTS = (2**0.5, 0.5**0.5, (2 / math.pi) ** 0.5)  # that stand in GELU


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenGraph:
    definition: object  # a GraphDef
    inputs: tuple[Any, ...]  # tensors of the graph that are to be fed
    outputs: tuple[str, ...]  # names of tensors
    operations: tuple[Any, ...]  # in an order in which they can run
    variables: Mapping[str, str]  # what the variable behind a constant was called: encoder/norm/gamma

    @property
    def constants(self) -> set[str]:
        """Tensors that no input has an influence on."""
        found: set[str] = set()
        for op in self.operations:
            fixed = op.type == "Const" or (op.inputs and all(t.name in found for t in op.inputs))
            if fixed and not op.type.startswith(("Random", "Stateless")):
                found |= {t.name for t in op.outputs}
        return found

    def run(self, feeds: Mapping[str, object], *, only: Collection[str] | None = None) -> dict[str, Any]:
        """All numbers that any operation gives, by the name of the tensor; or only these tensors."""
        import tensorflow as tf

        with tf.Graph().as_default() as graph:
            tf.import_graph_def(self.definition, name="")
        held = [t for op in self.operations for t in (op.outputs[:1] if op.type == FUSED_NORM else op.outputs)]
        names = [t.name for t in held if t.dtype.is_floating or t.dtype.is_integer or t.dtype.is_bool]
        names = [name for name in names if only is None or name in only]
        with tf.compat.v1.Session(graph=graph) as session:
            return dict(zip(names, session.run(names, dict(feeds)), strict=True))


def load(path: Path) -> FrozenGraph:
    tf = tensorflow()
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

    loaded = tf.saved_model.load(str(path))  # the function holds its variables only weakly
    function = _signature(loaded, path)
    handles = {id(variable.handle): variable.name for variable in function.variables}
    frozen = convert_variables_to_constants_v2(function, lower_control_flow=False)
    return FrozenGraph(
        definition=frozen.graph.as_graph_def(),
        inputs=tuple(_in_order(frozen.inputs, loaded)),
        outputs=tuple(tensor.name for tensor in frozen.outputs),
        operations=tuple(frozen.graph.get_operations()),
        variables={
            inner.op.name: handles[id(outer)].partition(":")[0]
            for outer, inner in function.graph.captures
            if id(outer) in handles
        },
    )


def tensorflow() -> Any:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # it talks a lot while it is imported
    try:
        import tensorflow as tf
    except ImportError:
        raise ParamedicError(
            "TensorFlow is not installed, so a SavedModel cannot be read",
            expected="TensorFlow, or a dump of the forward pass written where TensorFlow is installed",
            fix="pip install tensorflow-cpu, or write a dump with the ten lines in docs/compare.md",
        ) from None
    return tf


def _signature(loaded: Any, path: Path) -> Any:
    held = dict(loaded.signatures)
    if not held:
        raise ParamedicError(
            f"{path} has no signature that could be called",
            expected="a SavedModel with serving_default",
            fix="model.export(folder), or tf.saved_model.save(model, folder, signatures=…)",
        )
    return held.get("serving_default", next(iter(held.values())))


def _in_order(inputs: Sequence[Any], loaded: Any) -> list[Any]:
    """As the model takes them: a signature has its inputs in alphabetical order."""
    import tensorflow as tf

    found = {tensor.op.name: tensor for tensor in inputs}
    for name in ("serve", "__call__"):
        for function in getattr(getattr(loaded, name, None), "concrete_functions", ()):
            names = [
                spec.name for spec in tf.nest.flatten(function.structured_input_signature) if hasattr(spec, "name")
            ]
            if sorted(names) == sorted(found):
                return [found[name] for name in names]
    return list(inputs)


def widened(graph: FrozenGraph) -> FrozenGraph:
    """The same graph in float64. TensorFlow has no fused batch norm of that type: it is written out."""
    from tensorflow.core.framework import graph_pb2

    wide = graph_pb2.GraphDef()
    wide.CopyFrom(graph.definition)
    written_out = [part for node in wide.node for part in (_norm(node) if node.op == FUSED_NORM else [node])]
    nodes = [_copied(node) for node in written_out]
    del wide.node[:]
    wide.node.extend(nodes)
    for node in [*wide.node, *(node for function in wide.library.function for node in function.node_def)]:
        _widen(node, is_variable=node.name in graph.variables)
    for function in wide.library.function:
        for argument in (*function.signature.input_arg, *function.signature.output_arg):
            argument.type = _wide(argument.type)
    return FrozenGraph(
        definition=wide,
        inputs=graph.inputs,
        outputs=graph.outputs,
        operations=graph.operations,
        variables=graph.variables,
    )


def _widen(node: Any, *, is_variable: bool) -> None:
    import tensorflow as tf

    for attribute in node.attr.values():
        kind = attribute.WhichOneof("value")
        if kind == "type":
            attribute.type = _wide(attribute.type)
        elif kind == "list":
            attribute.list.type[:] = [_wide(part) for part in attribute.list.type]
        elif kind == "tensor" and attribute.tensor.dtype == tf.float32.as_datatype_enum:
            array = tf.make_ndarray(attribute.tensor)
            formula = array.ndim == 0 and not is_variable
            array = np.array(meant(float(array))) if formula else array.astype(np.float64)
            attribute.tensor.CopyFrom(tf.make_tensor_proto(array))


def meant(value: float) -> float:
    """A number of the formula that went through float32: 0.001 and not 0.0010000000474974513."""
    single = np.float32(value)
    return next((known for known in ROOTS if np.float32(known) == single), float(str(single)))


def _wide(kind: int) -> int:
    import tensorflow as tf

    return int(tf.float64.as_datatype_enum if kind == tf.float32.as_datatype_enum else kind)


def _norm(node: Any) -> list[object]:
    """(x - mean) · scale / √(variance + ε) + offset, as separate operations."""
    import tensorflow as tf
    from tensorflow.core.framework import node_def_pb2

    if node.attr["is_training"].b or node.attr["data_format"].s == b"NCHW":
        raise NotImplementedError("a batch norm in training mode or with channels first")
    x, scale, offset, mean, variance = node.input[:5]
    name, single = node.name, tf.float32.as_datatype_enum
    steps = [
        (f"{name}/eps", "Const", ()), (f"{name}/sum", "AddV2", (variance, f"{name}/eps")),
        (f"{name}/root", "Rsqrt", (f"{name}/sum",)), (f"{name}/factor", "Mul", (f"{name}/root", scale)),
        (f"{name}/scaled", "Mul", (x, f"{name}/factor")), (f"{name}/moved", "Mul", (mean, f"{name}/factor")),
        (f"{name}/shift", "Sub", (offset, f"{name}/moved")), (name, "AddV2", (f"{name}/scaled", f"{name}/shift")),
    ]  # fmt: skip
    found = [node_def_pb2.NodeDef(name=own, op=kind, input=list(given)) for own, kind, given in steps]
    for part in found:
        part.attr["dtype" if part.op == "Const" else "T"].type = single
    found[0].attr["value"].tensor.CopyFrom(tf.make_tensor_proto(node.attr["epsilon"].f, dtype=tf.float32))
    return found


def _copied(node: Any) -> object:
    from tensorflow.core.framework import node_def_pb2

    copy = node_def_pb2.NodeDef()
    copy.CopyFrom(node)
    copy.attr.pop("_output_shapes", None)
    return copy
