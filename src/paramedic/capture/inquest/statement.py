"""What is known of the operation that made a bad value, as facts for the record."""

from __future__ import annotations

import math
from typing import Any

import torch

from paramedic.capture.inquest.origin import Origin
from paramedic.capture.inquest.tracer import Op, Seen, Tracer

MOST_OPERANDS = 4
HALF = ("float16", "bfloat16")
_ADDING = ("add", "add_", "clamp", "clamp_min", "maximum", "sub", "clamp_", "clamp_min_")


def testimony(origin: Origin, tracer: Tracer) -> dict[str, object]:
    """The operation, its operands and its result in numbers."""
    op = origin.custom or origin.op
    if op is None:
        return {}
    return {
        "op": op.name.strip("_"),
        "node": origin.node,
        "own_backward": origin.custom is not None,
        "operands": [measure(seen) for seen in op.inputs[:MOST_OPERANDS]],
        "result": measure(op.outputs[0]) if op.outputs else None,
        "scalars": op.scalars[:4],
        "inside_model": op.inside_model,
        "from_meant_infinities": origin.deliberate,
        "masked_rows": _masked_rows(op),
        "lost_constant": _lost_constant(op, tracer),
    }


def measure(seen: Seen) -> dict[str, Any]:
    """Ranges of the finite values, and how many are not."""
    x = seen.tensor.detach()
    finite = torch.isfinite(x)
    kept = x[finite].double()
    return {
        "shape": list(x.shape),
        "dtype": str(x.dtype).removeprefix("torch."),
        "size": x.numel(),
        "min": float(kept.min()) if kept.numel() else math.nan,
        "max": float(kept.max()) if kept.numel() else math.nan,
        "zeros": int((x == 0).sum()),
        "negative": int((x < 0).sum()),
        "nan": int(torch.isnan(x).sum()),
        "inf": int(torch.isinf(x).sum()),
        "rows": _rows(~finite),
    }


def _rows(bad: torch.Tensor) -> list[int]:
    """The first indices along the first dimension, usually the samples of the batch."""
    if bad.dim() == 0 or bad.shape[0] == 1:
        return []
    return bad.reshape(bad.shape[0], -1).any(1).nonzero().reshape(-1).tolist()[:8]


def _masked_rows(op: Op) -> list[int] | None:
    """For a softmax: how many rows were -inf throughout, and how many rows there are."""
    if "softmax" not in op.name or not op.inputs or not op.scalars:
        return None
    x = op.inputs[0].tensor.detach()
    rows = (x == -math.inf).all(int(op.scalars[0]))
    return [int(rows.sum()), rows.numel()]


def _lost_constant(op: Op, tracer: Tracer) -> dict[str, object] | None:
    """A number in the program that half precision cannot hold: too large, or so small that it became zero."""
    for seen in [*op.inputs, *op.outputs]:
        source = tracer.writer(seen, op.index) if seen in op.inputs else op
        kind = str(seen.tensor.dtype).removeprefix("torch.")
        if source is None or kind not in HALF:
            continue
        limits = torch.finfo(seen.tensor.dtype)
        for number in source.scalars:
            too_large = limits.max < abs(number) < math.inf
            # Half of the smallest number that can be told from zero is rounded to zero.
            too_small = 0 < abs(number) < limits.smallest_normal * limits.eps / 2 and source.name in _ADDING
            if too_large or too_small:
                return {"value": number, "dtype": kind, "file": source.site.file, "line": source.site.line}
    return None
