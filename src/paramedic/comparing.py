"""`paramedic.compare` and `paramedic.copy_weights`: two models side by side, in any frameworks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paramedic.parity.comparison import Comparison
    from paramedic.parity.weights.copying import Copied


def compare(
    model_a: Any,
    model_b: Any,
    inputs: Any = None,
    *,
    map: Mapping[str, str] | None = None,
    backward: bool = False,
    optimizers: tuple[Callable[[Any], Any], Callable[[Any], Any]] | None = None,
) -> Comparison:
    """Find the first layer in which two models differ, and why. Print the result, or ask `.agrees`, `.first`.

    A model is a torch module, a Keras model, a pair (flax module, variables), or the path of an .onnx file, a
    TensorFlow SavedModel or a dump.
    `inputs` is a tensor, a tuple of positional inputs or a dict of named ones, as model_a takes them. `map` pairs names
    of layers where the alignment needs help. Weights are compared as they are: copy them first with `copy_weights` when
    the two were initialised apart. The models themselves are not changed.

    With `backward`, gradients are compared as well; with `optimizers`, two functions that make an optimizer from
    parameters, also what some optimizer steps with the same gradients do.
    """
    from paramedic.parity.models import compare_models

    found = compare_models(model_a, model_b, inputs, names=map)
    if backward:
        from paramedic.parity.backward import add_gradients

        add_gradients(found, model_a, model_b, inputs, names=map)
    if optimizers is not None:
        from paramedic.parity.optimizers import add_optimizers

        add_optimizers(found, *optimizers)
    return found


def copy_weights(source: Any, target: Any, *, map: Mapping[str, str] | None = None) -> Copied:
    """Copy the weights of one model into another one, across frameworks and layouts; says what was left over.

    Linear and Dense, convolutions, gate orders of LSTM and GRU, fused and split attention projections and statistics of
    BatchNorm are laid out as the target needs them. The source may also be the path of a SavedModel. `map` pairs names
    of layers, source to target.
    """
    from paramedic.parity.weights.copying import copy

    return copy(source, target, names=map)
