"""A Keras 3 model on any backend: every layer's call is seen; activations inside layers count as layers, too."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import nn

from paramedic.aliases import Args, Fields, Function
from paramedic.parity.fitting import channels_as_in
from paramedic.parity.trace import Layer, Trace
from paramedic.parity.weights.layouts import to_torch

SETTINGS = {
    "epsilon": "eps", "strides": "stride", "dilation_rate": "dilation", "groups": "groups", "rate": "p",
    "kernel_size": "kernel_size", "pool_size": "kernel_size", "padding": "padding", "negative_slope": "negative_slope",
    "num_heads": "num_heads", "axis": "dim", "interpolation": "mode", "units": "hidden_size", "use_bias": "use_bias",
}  # fmt: skip


class KerasSide:
    framework = "keras"

    def __init__(self, model: nn.Module, *, label: str, double: bool = False) -> None:
        self.model, self.label, self.is_double = model, label, double

    def double(self) -> KerasSide:
        """The same architecture built again in float64; a model that cannot describe itself cannot be."""
        config = _widened(self.model.get_config())
        with _double():
            model = type(self.model).from_config(config)
            if not model.built:
                model.build(self.model.input_shape)
            model.set_weights(self.model.get_weights())
        return KerasSide(model, label=self.label, double=True)

    def trace(self, args: Args, kwargs: Mapping[str, object]) -> Trace:
        given = [self._given(value, number) for number, value in enumerate(args)]
        recorder = _Recorder()
        with recorder, _double() if self.is_double else contextlib.nullcontext():
            outputs = self.model(*(given if len(given) == 1 else [given]), training=False, **kwargs)
        layers = [layer for layer in recorder.layers if layer.kind != "InputLayer" and layer.name != self.model.name]
        return Trace(layers=layers, outputs=tuple(_tensors(outputs)), double=self.is_double)

    def _given(self, value: object, number: int) -> Any:
        """In the precision of the model, with the channels where it wants them."""
        tensor = torch.as_tensor(value).detach().cpu()
        shapes = [tuple(t.shape) for t in self.model.inputs] if getattr(self.model, "inputs", None) else []
        if number < len(shapes):
            tensor = channels_as_in(tensor, shapes[number])
        array = tensor.contiguous().numpy()
        if tensor.is_floating_point():
            array = array.astype("float64" if self.is_double else "float32")
        import keras

        return keras.ops.convert_to_tensor(array)


@contextlib.contextmanager
def _double() -> Iterator[None]:
    """Keras makes float32 of float64 in every operation unless TensorFlow is below it: not now."""
    import keras
    from keras.src.backend.common import dtypes

    before, narrowed = keras.config.floatx(), dict(dtypes.BIT64_TO_BIT32_DTYPE)
    keras.config.set_floatx("float64")
    dtypes.BIT64_TO_BIT32_DTYPE["float64"] = "float64"
    try:
        yield
    finally:
        keras.config.set_floatx(before)
        dtypes.BIT64_TO_BIT32_DTYPE.update(narrowed)


class _Recorder(contextlib.ExitStack):
    """Replaces the call of layers and operations for the time of one forward pass."""

    def __init__(self) -> None:
        super().__init__()
        self.layers: list[Layer] = []
        self._open: list[Layer] = []
        self._calls: dict[str, int] = defaultdict(int)

    def __enter__(self) -> _Recorder:
        from keras import Layer as KerasLayer
        from keras import Operation

        for owner in (KerasLayer, Operation):
            original = owner.__call__
            owner.__call__ = self._seen(original)
            self.callback(setattr, owner, "__call__", original)
        return self

    def _seen(self, original: Function) -> Function:
        def call(layer: Any, *args: Any, **kwargs: Any) -> Any:
            if self._open and self._open[-1].settings.get("self") is layer:
                return original(layer, *args, **kwargs)  # a Layer is an Operation as well
            entry = Layer(
                name=layer.name,
                kind=type(layer).__name__,
                call=self._calls[layer.name],
                parent=self._open[-1].name if self._open else "",
                inputs=tuple(_tensors((args, kwargs))),
                settings={"self": layer},
            )
            self._calls[layer.name] += 1
            self._open.append(entry)
            inner: list[tuple[Any, Any]] = []
            with _activation_seen(layer, inner):
                result = original(layer, *args, **kwargs)
            self._open.pop()
            self._end(entry, layer, result, inner)
            return result

        return call

    def _end(self, entry: Layer, layer: Any, result: object, inner: list[tuple[object, object]]) -> None:
        entry.outputs = tuple(_tensors(result))
        entry.settings = settings_of(layer)
        entry.parameters = parameters_of(layer)
        entry.leaf = not entry.children
        if type(layer).__name__ in ("Activation", "ReLU", "LeakyReLU", "Softmax"):
            entry.kind = getattr(getattr(layer, "activation", None), "__name__", type(layer).__name__)
        if entry.leaf and len(inner) == 1 and entry.parameters:
            before, after = (tuple(_tensors(part)) for part in inner[0])
            name = getattr(layer.activation, "__name__", "activation")
            entry.outputs = before
            self._add(entry)
            self._add(Layer(name=f"{entry.name}/{name}", kind=name, call=entry.call, inputs=before, outputs=after))
        else:
            self._add(entry)

    def _add(self, entry: Layer) -> None:
        if self._open:
            self._open[-1].children.append(entry)
        self.layers.append(entry)


@contextlib.contextmanager
def _activation_seen(layer: object, inner: list[tuple[object, object]]) -> Iterator[None]:
    """Dense(activation="relu") is two layers elsewhere: what goes into its activation is its output."""
    from keras import activations, layers

    known = vars(layer).get("activation")
    fused = isinstance(layer, layers.Dense | layers.Conv1D | layers.Conv2D | layers.Conv3D | layers.DepthwiseConv2D)
    if not fused or known is None or known is activations.linear:
        yield
        return

    def watched(value: object, *args: object, **kwargs: object) -> object:
        result = known(value, *args, **kwargs)
        inner.append((value, result))
        return result

    watched.__name__ = getattr(known, "__name__", "activation")
    object.__setattr__(layer, "activation", watched)
    try:
        yield
    finally:
        object.__setattr__(layer, "activation", known)


def settings_of(layer: Any) -> Fields:
    """With torch's names. Momentum counts the new batch in torch and the old statistics in Keras."""
    found = {new: vars(layer)[old] for old, new in SETTINGS.items() if old in vars(layer)}
    if "momentum" in vars(layer) and hasattr(layer, "moving_mean"):
        found["momentum"] = round(1 - layer.momentum, 10)
    if found.get("padding") == "valid":
        found["padding"] = 0
    return found


def parameters_of(layer: object) -> dict[str, torch.Tensor]:
    """The layer's own weights, in torch's layout. Those of a container belong to its layers."""
    if not getattr(layer, "weights", None) or (getattr(layer, "layers", None) and not hasattr(layer, "_query_dense")):
        return {}
    return to_torch(type(layer).__name__, raw_weights(layer))


def raw_weights(layer: Any) -> dict[str, torch.Tensor]:
    """Keras' own names: kernel, bias; query.kernel of attention."""
    attention = hasattr(layer, "_query_dense")
    found = {}
    for variable in layer.weights:
        words = variable.path.split("/")
        if words[-1] in ("seed_generator_state",):
            continue
        found[".".join(words[-2:]) if attention else words[-1]] = torch.as_tensor(_numpy(variable))
    return found


def _tensors(value: object) -> Iterator[torch.Tensor]:
    import keras

    for leaf in keras.tree.flatten(value):
        if hasattr(leaf, "shape") and not isinstance(leaf, keras.KerasTensor):
            yield torch.as_tensor(_numpy(leaf))


def _numpy(value: object) -> Any:
    import keras
    import numpy as np

    return np.array(keras.ops.convert_to_numpy(value))


def _widened(config: object) -> object:
    if isinstance(config, dict):
        return {key: _widened(value) for key, value in config.items()}
    if isinstance(config, list | tuple):
        return type(config)(_widened(value) for value in config)
    return "float64" if config == "float32" else config
