"""Errors about shapes, types, devices and indices, told as: which two do not fit together."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from paramedic.postmortem.modulestack import Running
from paramedic.postmortem.patterns import explain_pattern, given_sizes
from paramedic.postmortem.summarize import is_tensor

if TYPE_CHECKING:
    from torch import Tensor

Tensors = Mapping[str, Any]  # the tensors that the failing statement reads, by name
Explain = Callable[[re.Match[str], Tensors, Running | None], str | None]

_EXPLAIN: list[tuple[re.Pattern[str], Explain]] = []


def explain(message: str, tensors: Tensors, innermost: Running | None) -> str | None:
    """One or two sentences for an error message of torch; None when there is nothing to add."""
    for pattern, function in _EXPLAIN:
        found = pattern.search(message)
        if found:
            try:
                return function(found, tensors, innermost)
            except (AttributeError, IndexError, KeyError, TypeError, ValueError):
                return None
    return None


def _on(pattern: str) -> Callable[[Explain], Explain]:
    def register(function: Explain) -> Explain:
        _EXPLAIN.append((re.compile(pattern), function))
        return function

    return register


def _sizes(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"-?\d+", text)]


def _name(tensors: Tensors, fits: Callable[[tuple[int, ...]], bool], otherwise: str) -> str:
    """The one tensor of the statement whose shape fits, by its name."""
    found = [f"{name} {_shape(tensor)}" for name, tensor in tensors.items() if fits(tuple(tensor.shape))]
    return found[0] if len(found) == 1 else otherwise


def _class(innermost: Running | None) -> str:
    return type(innermost.module).__name__ if innermost is not None else ""


def _shape(tensor: Tensor) -> str:
    return str(tuple(tensor.shape))


@_on(r"mat1 and mat2 shapes cannot be multiplied \((\d+)x(\d+) and (\d+)x(\d+)\)")
def _matmul(found: re.Match[str], tensors: Tensors, innermost: Running | None) -> str:
    rows, left, right, columns = (int(group) for group in found.groups())
    if innermost is not None and _class(innermost) == "Linear":
        given = next((_shape(t) for t in innermost.inputs.values() if is_tensor(t)), f"({rows}, {left})")
        return (
            f"the last dimension of the input {given} is {left}, but {innermost.path} was built for {right}: "
            f"Linear(in_features={right}, out_features={columns})"
        )
    first = _name(tensors, lambda shape: shape[-1:] == (left,), "the left one")
    second = _name(tensors, lambda shape: len(shape) > 1 and shape[-2:] == (right, columns), "the right one")
    return f"the last dimension of {first} is {left}, the first of {second} is {right}; they must be equal"


@_on(r"The size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\) at non-singleton dimension (\d+)")
def _broadcast(found: re.Match[str], tensors: Tensors, innermost: Running | None) -> str | None:
    left, right, dimension = (int(group) for group in found.groups())
    shown = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    rank = max([len(shape) for shape in shown.values()] or [dimension + 1])

    def owners(size: int) -> list[str]:
        return [n for n, s in shown.items() if 0 <= (d := dimension - rank + len(s)) < len(s) and s[d] == size]

    names = [
        f"{owners(size)[0]} {shown[owners(size)[0]]} has {size}" if owners(size) else f"{who} has {size}"
        for who, size in (("the left one", left), ("the right one", right))
    ]
    return f"in dimension {dimension} {names[0]}, {names[1]}; they must be equal, or one of them 1"


@_on(r"must match except in dimension (\d+)\. Expected size (\d+) but got size (\d+) for tensor number (\d+)")
def _cat(found: re.Match[str], tensors: Tensors, innermost: Running | None) -> str:
    along, expected, got, number = (int(group) for group in found.groups())
    return (
        f"joined along dimension {along}, all other dimensions must agree: the first tensor has {expected} where "
        f"tensor number {number} (counted from 0) has {got}"
    )


@_on(r"stack expects each tensor to be equal size, but got \[([\d, ]*)\] at entry 0 and \[([\d, ]*)\] at entry (\d+)")
def _stack(found: re.Match[str], tensors: Tensors, innermost: Running | None) -> str:
    first, other = _sizes(found[1]), _sizes(found[2])
    if len(first) != len(other):
        return f"entry 0 has {len(first)} dimensions, entry {found[3]} has {len(other)}"
    differ = [d for d, (a, b) in enumerate(zip(first, other, strict=True)) if a != b]
    parts = [f"in dimension {d} entry 0 has {first[d]}, entry {found[3]} has {other[d]}" for d in differ]
    return "; ".join(parts) + ". Samples of different sizes need padding in collate_fn before they make a batch"


@_on(r"weight of size \[([\d, ]+)\], expected input\[([\d, ]+)\] to have (\d+) channels, but got (\d+) channels")
def _conv(found: re.Match[str], tensors: Tensors, innermost: Running | None) -> str:
    shape, wanted, got = _sizes(found[2]), int(found[3]), int(found[4])
    text = f"dimension 1 (channels) of the input {tuple(shape)} is {got}, but the weight was built for {wanted}"
    if wanted in shape[2:]:
        return f"{text}. The input has {wanted} in its dimension {shape.index(wanted, 2)}: channels last? Use permute"
    return text


@_on(r"Expected input batch_size \((\d+)\) to match target batch_size \((\d+)\)")
def _targets(found: re.Match[str], tensors: Tensors, innermost: Running | None) -> str:
    rows, targets = int(found[1]), int(found[2])
    text = f"dimension 0: {rows} rows of scores, but {targets} targets"
    if rows and targets and max(rows, targets) % min(rows, targets) == 0:
        return f"{text}, {max(rows, targets) // min(rows, targets)} times as many: one of them was flattened"
    return text


@_on(r"target size \(torch\.Size\(\[([\d, ]*)\]\)\) that is different to the input size \(torch\.Size\(\[([\d, ]*)\]")
def _unequal(found: re.Match[str], tensors: Tensors, innermost: Running | None) -> str:
    target, given = _sizes(found[1]), _sizes(found[2])
    text = f"the target has shape {tuple(target)}, the input {tuple(given)}"
    if [size for size in target if size != 1] == [size for size in given if size != 1]:
        return f"{text}: squeeze or unsqueeze one of them"
    return text


@_on(r"shape '\[([-\d, ]+)\]' is invalid for input of size (\d+)")
def _view(found: re.Match[str], tensors: Tensors, innermost: Running | None) -> str:
    wanted, have = _sizes(found[1]), int(found[2])
    need = math.prod(size for size in wanted if size != -1)
    if -1 in wanted:
        return f"{have:,} elements cannot be divided by {need:,}, so nothing fits in the place of -1"
    return f"the new shape holds {need:,} elements, the tensor has {have:,}"


@_on(r"existing size \(\d+\) at non-singleton dimension (\d+)\.\s+Target sizes: \[(.*)\]\.\s+Tensor sizes: \[(.*)\]")
def _expand(found: re.Match[str], tensors: Tensors, innermost: Running | None) -> str:
    wanted, have = _sizes(found[2]), _sizes(found[3])
    dimension = int(found[1])
    own = dimension - len(wanted) + len(have)
    return f"in dimension {dimension} there are {have[own]}, and {wanted[dimension]} are wanted; only 1 can be expanded"


@_on(r"Expected size for first two dimensions of batch2 tensor to be: \[(\d+), (\d+)\] but got: \[(\d+), (\d+)\]")
def _bmm(found: re.Match[str], tensors: Tensors, innermost: Running | None) -> str:
    batch, inner, other, got = (int(group) for group in found.groups())
    if batch != other:
        return f"dimension 0 (batch): the left one has {batch}, the right one {other}"
    return f"the last dimension of the left one is {inner}, dimension 1 of the right one is {got}; they must be equal"


@_on(r"normalized_shape=\[([\d, ]+)\], expected input with shape .*, but got input of size\[([\d, ]+)\]")
def _layer_norm(found: re.Match[str], tensors: Tensors, innermost: Running | None) -> str:
    wanted, shape = _sizes(found[1]), _sizes(found[2])
    return f"the input {tuple(shape)} ends in {shape[-len(wanted) :]}, the norm was built for {wanted}"


@_on(r"running_mean should contain (\d+) elements not (\d+)")
def _batch_norm(found: re.Match[str], tensors: Tensors, innermost: Running | None) -> str:
    return f"dimension 1 (channels) of the input is {found[1]}, but the norm was built for {found[2]}"


@_on(r"[Ii]nput\.size\(-1\) must be equal to input_size\. Expected (\d+), got (\d+)")
def _recurrent(found: re.Match[str], tensors: Tensors, innermost: Running | None) -> str:
    return f"the last dimension of the input is {found[2]}, but the layer was built for {found[1]}"


@_on(r"index out of range in self")
def _embedding(found: re.Match[str], tensors: Tensors, innermost: Running | None) -> str | None:
    if innermost is None or _class(innermost) not in ("Embedding", "EmbeddingBag"):
        return None
    indices = next(tensor for tensor in innermost.inputs.values() if is_tensor(tensor))
    if indices.device.type != "cpu":
        return None
    rows, low, high = innermost.module.num_embeddings, int(indices.min()), int(indices.max())
    return f"{innermost.path} has {rows:,} rows (0 … {rows - 1}), the indices go from {low} to {high}"


@_on(r"Target (-?\d+) is out of bounds")
def _out_of_bounds(found: re.Match[str], tensors: Tensors, innermost: Running | None) -> str | None:
    scores = [t for t in tensors.values() if t.dtype.is_floating_point and t.dim() > 1]
    if not scores:
        return None
    classes = scores[0].shape[1]
    return f"there are scores for {classes} classes, so targets go from 0 to {classes - 1}; {found[1]} is outside"


@_on(r"subscript (\w) has size (\d+) for operand (\d+) which does not broadcast with previously seen size (\d+)")
def _einsum(found: re.Match[str], tensors: Tensors, innermost: Running | None) -> str:
    return f"dimension {found[1]} is {found[2]} in operand {found[3]} (counted from 0), and {found[4]} before it"


@_on(r'processing [\w-]+ pattern "([^"]+)"\.\s+Input tensor shape: torch\.Size\(\[([\d, ]*)\]\)\. \w+ info: (\{.*?\})')
def _einops(found: re.Match[str], tensors: Tensors, innermost: Running | None) -> str:
    return explain_pattern(found[1], _sizes(found[2]), given_sizes(found[3]))


@_on(r"same dtype|expected scalar type|should be the same|Found dtype|expected m1 and m2 to have the same")
def _types(found: re.Match[str], tensors: Tensors, innermost: Running | None) -> str | None:
    return _by_property(
        _involved(tensors, innermost), lambda tensor: str(tensor.dtype).removeprefix("torch."), ("is", "are")
    )


@_on(r"Expected all tensors to be on the same device|is not on the expected device")
def _devices(found: re.Match[str], tensors: Tensors, innermost: Running | None) -> str | None:
    return _by_property(_involved(tensors, innermost), lambda tensor: str(tensor.device), ("is on", "are on"))


def _involved(tensors: Tensors, innermost: Running | None) -> Tensors:
    """What met: a layer's input and its parameters, or else the tensors of the user's statement."""
    inputs = {name: value for name, value in innermost.inputs.items() if is_tensor(value)} if innermost else {}
    if innermost is None or not inputs or not type(innermost.module).__module__.startswith("torch.nn"):
        return {**tensors, **inputs}
    return inputs | {f"{innermost.path}.{name}": p for name, p in innermost.module.named_parameters(recurse=False)}


def _by_property(tensors: Tensors, of: Callable[[Any], str], verb: tuple[str, str]) -> str | None:
    groups: dict[str, list[str]] = {}
    for name, tensor in tensors.items():
        groups.setdefault(of(tensor), []).append(name)
    if len(groups) < 2:
        return None
    return ", ".join(
        f"{' and '.join(names[:3])} {verb[0] if len(names) == 1 else verb[1]} {kind}" for kind, names in groups.items()
    )
