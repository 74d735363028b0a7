"""`assert_causal` and `assert_padding_invariant`: what positions of a sequence may know of each other."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import nn

from paramedic.errors import ParamedicError
from paramedic.program.tensors import tensors_in
from paramedic.testing.case import as_call
from paramedic.testing.changing import changed, distance, frozen_run, noise_floor
from paramedic.testing.failure import Cause, CheckFailed
from paramedic.testing.restore import restored
from paramedic.testing.taint import tainted_by

CLOSE = 1e-5  # of the outputs' size: sums over more positions round differently


def assert_causal(model: nn.Module, inputs: object) -> None:
    """The output at position t (dimension 1) does not depend on inputs behind t."""
    __tracebackhide__ = True
    batch = as_call(inputs)
    with restored(model), torch.no_grad():
        before = frozen_run(model, batch)
        length = _length(batch, before)
        allowed = noise_floor(model, batch, before)
        for place in sorted({0, length // 2, length - 2}):
            later = changed(batch, partial(_later_replaced, length=length, place=place))
            for a, b in zip(before, frozen_run(model, later), strict=True):
                if a.dim() < 2 or a.shape[1] != length or a.shape != b.shape:
                    continue
                early, same = a[:, : place + 1], b[:, : place + 1]
                gap = distance(early, same)
                if gap > max(allowed, CLOSE * float(a.abs().max())):
                    first = next(n for n in range(place + 1) if distance(early[:, n], same[:, n]) > allowed)
                    where = tainted_by(model, batch, length, 0, after=place) or ""
                    raise CheckFailed(
                        "assert_causal",
                        f"the output at position {first} changes by {gap:.3g} when inputs behind {place} change",
                        [_leak(where)],
                    )


def assert_padding_invariant(model: nn.Module, inputs: object, lengths: Any, *, pad: float = 0, extra: int = 3) -> None:
    """More padding at the end (dimension 1) changes no output that counts.

    `lengths` are those of the samples without padding. Masks among the inputs, 0/1 or bool of the shape (batch, time),
    are continued with what they say of padding.
    """
    __tracebackhide__ = True
    batch = as_call(inputs)
    lengths = torch.as_tensor(lengths)
    with restored(model), torch.no_grad():
        before = frozen_run(model, batch)
        length = max(t.shape[1] for _, t in tensors_in(batch) if t.dim() > 1)
        if int(lengths.max()) > length or len(lengths) < 1:
            raise ParamedicError(
                f"lengths go up to {int(lengths.max())}", expected=f"at most {length}, the padded length"
            )
        after = frozen_run(model, changed(batch, lambda t: _longer(t, length, lengths, pad, extra)))
    for a, b in zip(before, after, strict=True):
        gap, sample = _widest(a, b, lengths, length)
        if gap > CLOSE * max(float(a.abs().max()), 1e-6) * 10:
            cause = Cause(
                code="PM415",
                what="padding takes part: in attention, pooling, normalisation, or the last state of a recurrent layer",
                remedy="mask it, or pack the sequences (torch.nn.utils.rnn.pack_padded_sequence)",
            )
            what = f"sample {sample} of length {int(lengths[sample])} changes by {gap:.3g} with {extra} more padding"
            raise CheckFailed("assert_padding_invariant", what, [cause])


def _length(batch: object, outputs: list[torch.Tensor]) -> int:
    lengths = {t.shape[1] for _, t in tensors_in(batch) if t.dim() > 1}
    found = [t.shape[1] for t in outputs if t.dim() > 1 and t.shape[1] in lengths and t.shape[1] >= 3]
    if not found:
        raise ParamedicError(
            "no output has a place for every position of the inputs", expected="(batch, time, …) in and out, time ≥ 3"
        )
    return found[0]


def _later_replaced(tensor: torch.Tensor, length: int, place: int) -> torch.Tensor:
    if tensor.dim() < 2 or tensor.shape[1] != length or tensor.dtype == torch.bool:
        return tensor
    later = tensor[:, place + 1 :]
    if tensor.dtype.is_floating_point:
        tensor[:, place + 1 :] = torch.randn_like(later) * tensor.std().nan_to_num(1.0).clamp(min=0.1)
    elif bool((tensor == tensor.flatten()[0]).all()):
        return tensor
    else:
        pool = tensor.flatten()
        tensor[:, place + 1 :] = pool[torch.randint(len(pool), later.shape)]
    return tensor


def _longer(tensor: torch.Tensor, length: int, lengths: torch.Tensor, pad: float, extra: int) -> torch.Tensor:
    if tensor.dim() < 2 or tensor.shape[1] != length or len(tensor) != len(lengths):
        return tensor
    value: float = pad
    behind = torch.arange(length).unsqueeze(0) >= lengths.unsqueeze(1)
    is_flag = tensor.dim() == 2 and bool(((tensor == 0) | (tensor == 1)).all())
    if is_flag and bool(behind.any()):
        value = float(tensor[behind][0])
    elif is_flag and tensor.dtype in (torch.bool, torch.int64, torch.int32):
        value = 0.0
    more = torch.full((len(tensor), extra, *tensor.shape[2:]), value).to(tensor)
    return torch.cat([tensor, more], dim=1)


def _widest(a: torch.Tensor, b: torch.Tensor, lengths: torch.Tensor, length: int) -> tuple[float, int]:
    gaps = []
    for sample, count in enumerate(lengths.tolist()):
        if a.dim() < 1 or len(a) != len(lengths):
            return distance(a, b) if a.shape == b.shape else 0.0, 0
        mine, yours = a[sample], b[sample]
        if mine.dim() > 0 and mine.shape[0] == length:
            mine, yours = mine[:count], yours[:count]
        gaps.append(distance(mine, yours) if mine.shape == yours.shape else 0.0)
    return max(gaps), gaps.index(max(gaps))


def _leak(where: str) -> Cause:
    return Cause(
        code="PM417",
        what="the future reaches the past" + (f" in {where}" if where else " in the model's own forward()"),
        remedy="a causal mask (is_causal=True), left padding for convolutions, no bidirectional layers",
        where=where,
    )
