"""`assert_batch_independent` and `assert_permutation_equivariant`: what samples and positions know of each other."""

from __future__ import annotations

from functools import partial

import torch
from torch import nn

from paramedic.errors import ParamedicError
from paramedic.program.tensors import tensors_in
from paramedic.testing.case import as_call
from paramedic.testing.changing import changed, distance, frozen_run, noise_floor
from paramedic.testing.failure import Cause, CheckFailed
from paramedic.testing.restore import restored
from paramedic.testing.taint import tainted_by


def assert_batch_independent(model: nn.Module, inputs: object) -> None:
    """In evaluation mode no sample's output depends on the other samples of its batch.

    The other samples are replaced, and the output of the one must stay the same, bit by bit. On failure the first
    module behind which they have mixed is named, found by NaNs put into the other samples.
    """
    __tracebackhide__ = True
    batch = as_call(inputs)
    size = _size(batch)
    with restored(model), torch.no_grad():
        before = frozen_run(model, batch)
        allowed = noise_floor(model, batch, before)
        for index in sorted({0, size // 2, size - 1, *range(min(size, 16))}):
            other = changed(batch, partial(_others_replaced, size=size, index=index))
            after = frozen_run(model, other)
            gaps = [distance(a[index], b[index]) for a, b in zip(before, after, strict=True) if _has(a, b, size)]
            if gaps and max(gaps) > allowed:
                where = tainted_by(model, batch, size, index)
                raise CheckFailed(
                    "assert_batch_independent",
                    f"sample {index} changes by {max(gaps):.3g} when the other {size - 1} samples are replaced",
                    [_mixing(model, where)],
                )


def assert_permutation_equivariant(model: nn.Module, inputs: object, *, dim: int = 1, invariant: bool = False) -> None:
    """Permuting the inputs along `dim` permutes the outputs likewise; with `invariant`, leaves them as they are."""
    __tracebackhide__ = True
    batch = as_call(inputs)
    sizes = [t.shape[dim] for _, t in tensors_in(batch) if t.dim() > dim]
    if not sizes:
        raise ParamedicError(f"no input has a dimension {dim}", expected="inputs with that many dimensions")
    size = sizes[0]
    with restored(model), torch.no_grad():
        order = torch.randperm(size)
        before = frozen_run(model, batch)
        moved = changed(batch, lambda t: t.index_select(dim, order.to(t.device)) if _fits(t, dim, size) else t)
        after = frozen_run(model, moved)
    for a, b in zip(before, after, strict=True):
        expected = a if invariant or not _fits(a, dim, size) else a.index_select(dim, order.to(a.device))
        gap = distance(expected.double(), b.double()) / max(float(a.double().abs().max()), 1e-6)
        if gap > 1e-4:
            cause = Cause(
                code="PM413" if dim == 0 else "",
                what="the order reaches the output: positions, recurrence, or a view over that dimension",
                remedy="pool with sum, mean or max over the set, or drop the position embedding",
            )
            word = "invariant" if invariant else "equivariant"
            what = f"not {word} over dimension {dim}: outputs differ by {gap:.2g} of their size"
            raise CheckFailed("assert_permutation_equivariant", what, [cause])


def _size(batch: object) -> int:
    size = next((len(t) for _, t in tensors_in(batch) if t.dim() > 0), 0)
    if size < 2:
        raise ParamedicError(f"the batch has {size} samples", expected="at least 2, better 4")
    return size


def _fits(tensor: torch.Tensor, dim: int, size: int) -> bool:
    return tensor.dim() > dim and tensor.shape[dim] == size


def _has(before: torch.Tensor, after: torch.Tensor, size: int) -> bool:
    return before.dim() > 0 and len(before) == size and before.shape == after.shape


def _others_replaced(tensor: torch.Tensor, size: int, index: int) -> torch.Tensor:
    """New draws instead of the other samples; whole numbers and flags are exchanged among the samples."""
    if tensor.dim() == 0 or len(tensor) != size:
        return tensor
    if tensor.dtype.is_floating_point and not bool(((tensor == 0) | (tensor == 1)).all()):
        fresh = torch.randn_like(tensor) * tensor.std().nan_to_num(1.0).clamp(min=0.1) + tensor.mean()
    else:
        fresh = tensor.roll(1, 0)
    fresh[index] = tensor[index]
    return fresh


def _mixing(model: nn.Module, path: str | None) -> Cause:
    module = dict(model.named_modules()).get(path or "")
    kind = type(module).__name__ if module is not None and path else ""
    if isinstance(module, nn.RNNBase | nn.MultiheadAttention | nn.TransformerEncoderLayer) and kind:
        remedy = f"{kind} takes (time, batch, …) unless batch_first=True"
    else:
        remedy = "look for a view, softmax, mean or norm over dimension 0"
    what = f"samples meet in {kind}" if kind else "samples meet in the model's own forward()"
    return Cause(code="PM413", what=what, remedy=remedy, where=path or "")
