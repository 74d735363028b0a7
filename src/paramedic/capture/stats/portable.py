"""Statistics with what every torch device can do.

On the host numpy does the work, on this thread alone: a torch operation with two threads was seen to take 16 ms instead
of 0.3 when one of the cores was busy with something else, a loader's worker for instance. Small tensors are joined and
measured together, since there the calls cost more than the numbers; large ones go through the cache in pieces. On any
other device: plain torch operations, of which none waits for the device. Nothing here may raise for a tensor it cannot
read, or be seen by the modes and hooks of the script.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
import torch

from paramedic.capture.stats import layout
from paramedic.capture.stats.calm import undisturbed

SMALL = 1 << 14  # elements; tensors up to here are joined
JOINED = 1 << 16  # elements in one joined array, which with its temporaries should stay in the cache
TOGETHER = 1024  # tensors in one go: each needs 4 kB while its histogram is counted
PIECE = 1 << 17  # elements of a large host tensor measured at a time
SERIAL = 1 << 15  # elements that torch converts without waking its threads
DEVICE_PIECE = 1 << 22  # the same elsewhere: bounds the memory taken for float64 copies

_FP8 = ("e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz", "e8m0fnu")  # not every torch has all of them
_NARROW = {torch.float32, torch.float16, torch.bfloat16}
_NARROW |= {getattr(torch, f"float8_{kind}") for kind in _FP8 if hasattr(torch, f"float8_{kind}")}
_WIDE = {torch.float64, torch.int64, torch.int32, torch.int16, torch.int8, torch.bool}
_WIDE |= {torch.uint8, torch.uint16, torch.uint32, torch.uint64}
_COMPLEX = {torch.complex32, torch.complex64, torch.complex128}
_READABLE = _NARROW | _WIDE | _COMPLEX
_COMPRESSED = {torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc}
_SPARSE = _COMPRESSED | {torch.sparse_coo}
PLAIN = (torch.Tensor, torch.nn.Parameter)

# Between which magnitudes squares can be summed without a thought for overflow and underflow.
_SAFE = {np.dtype(np.float32): (2.0**-40, 2.0**54), np.dtype(np.float64): (2.0**-480, 2.0**480)}

CAPTURING = "inside the capture of a CUDA graph"
Array = layout.Array
Item = tuple[int, torch.Tensor, int]  # the row it belongs to, its values, how often each repeats


def summarise_into(
    tensors: Sequence[torch.Tensor], out: torch.Tensor, *, seen: int | None = None, rows: Sequence[int] | None = None
) -> list[str | None]:
    """Write one packed row per tensor into `out`: into its first rows, or those named by `rows`.

    Returns for each tensor None, or the reason why its row holds nothing but NaN. `seen` bounds the elements that each
    histogram looks at; 0 leaves it empty.
    """
    with undisturbed():
        if is_capturing(out):
            return [CAPTURING] * len(tensors)
        places = range(len(tensors)) if rows is None else rows
        seen = layout.SEEN_ON_HOST if seen is None else seen
        reasons = [why_not(tensor, out.device) for tensor in tensors]
        ready = [(place, tensor) for place, tensor, reason in zip(places, tensors, reasons, strict=True) if not reason]
        failed = (_on_host if out.device.type == "cpu" else _on_device)(ready, out, seen)
        for index, place in enumerate(places):
            reasons[index] = reasons[index] or failed.get(place)
            if reasons[index] is not None:
                out[place].fill_(float("nan"))
    return reasons


def is_capturing(out: torch.Tensor) -> bool:
    """Whether what is launched now would become part of a CUDA graph of the script's."""
    return out.is_cuda and torch.cuda.is_current_stream_capturing()


def why_not(tensor: torch.Tensor, device: torch.device) -> str | None:
    """Why the tensor's values cannot be read, or None."""
    if type(tensor) not in PLAIN:
        return _why_not_this_type(tensor)
    if tensor.is_nested:
        return "nested tensors are not summarised"
    if tensor.is_meta:
        return "on the meta device a tensor has no values"
    if torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        return "inside vmap, grad or another function transform"
    if tensor.dtype not in _READABLE:
        return f"the values of dtype {str(tensor.dtype).removeprefix('torch.')} cannot be read"
    if tensor.device != device:
        return f"on {tensor.device}, not on {device}"
    if tensor.layout is not torch.strided:
        return None if tensor.layout in _SPARSE else f"layout {tensor.layout} is not summarised"
    # FSDP and others free a tensor's memory and keep the tensor: to read it would be to crash.
    if tensor.numel() and not tensor._is_zerotensor() and tensor.untyped_storage().nbytes() == 0:
        return "its memory has been released"
    return None


def _why_not_this_type(tensor: object) -> str:
    name = type(tensor).__name__
    if not isinstance(tensor, torch.Tensor):
        return f"not a tensor but {name}"
    if name == "FakeTensor":
        return "a fake tensor has no values"
    if torch.nn.parameter.is_lazy(tensor):
        return "not initialised yet"
    return f"{'nested tensors are' if name == 'NestedTensor' else f'tensor subclass {name} is'} not summarised"


def _real(tensor: torch.Tensor) -> tuple[torch.Tensor, int, list[Any]]:
    """The real values to measure, how often each repeats, and the parts to add for what is not stored."""
    more: list[object] = []
    if tensor.layout is not torch.strided:
        tensor, more = _stored_values(tensor.detach())
    if tensor.dtype in _COMPLEX:
        tensor = tensor.detach().resolve_conj().to(torch.complex64 if tensor.dtype is torch.complex32 else tensor.dtype)
        tensor = tensor.abs()
    values, times = layout.flatten(tensor)
    return values, times, more


def _stored_values(tensor: torch.Tensor) -> tuple[torch.Tensor, list[object]]:
    """The values that a sparse tensor stores, and a part that stands for its implied zeros."""
    if tensor.layout in _COMPRESSED:
        values = tensor.values()
    elif tensor.is_coalesced() or tensor.device.type == "cpu" or tensor._nnz() == 0:
        values = tensor.coalesce().values() if tensor._nnz() else tensor._values()
    else:
        return _summed_duplicates(tensor)
    zeros = float(tensor.numel() - values.numel())
    return values, [(zeros, 0.0, 0.0, zeros, *layout.NOTHING[4:6], *((0.0, 0.0) if zeros else layout.NOTHING[6:]))]


def _summed_duplicates(tensor: torch.Tensor) -> tuple[torch.Tensor, list[object]]:
    """As `coalesce`, which waits for the device to learn how many entries remain; here the spare rows become NaN."""
    indices, values = tensor._indices(), tensor._values()
    values = values.to(torch.float32) if values.dtype in _NARROW else values
    key = torch.zeros_like(indices[0])
    for axis, extent in zip(indices, tensor.shape, strict=False):
        key = key * extent + axis
    key, order = key.sort()
    slot = torch.cat([torch.zeros_like(key[:1]), (key[1:] != key[:-1]).to(key.dtype)]).cumsum(0)
    summed = torch.zeros_like(values).index_add_(0, slot, values.index_select(0, order))
    row = torch.arange(len(key), device=key.device).view(-1, *[1] * (values.dim() - 1))
    summed = torch.where(row > slot[-1], float("nan"), summed)
    spare = (len(key) - 1 - slot[-1]) * (values.numel() // len(key))
    zeros = tensor.numel() - values.numel() + spare
    none, bound = torch.zeros_like(zeros), torch.where(zeros > 0, 0.0, float("inf"))
    return summed, [(zeros, -spare, none, zeros, none, none, bound, -bound)]


def _on_host(ready: list[tuple[int, torch.Tensor]], out: torch.Tensor, seen: int) -> dict[int, str]:
    target, failed = out.numpy(), {}
    small: dict[torch.dtype, list[Item]] = {torch.float32: [], torch.float64: []}
    for place, tensor in ready:
        try:
            if _lies_ready(tensor):
                small[_width(tensor)].append((place, tensor, 1))
                continue
            values, times, more = _real(tensor)
            if more or not 0 < values.numel() <= SMALL:
                _fill_row_of_large(values, times, more, seen, target[place])
            else:
                small[_width(values)].append((place, values if values.dim() == 1 else values.reshape(-1), times))
        except Exception as error:
            failed[place] = _failure(error)
    for dtype, group in small.items():
        for batch in _batches(group):
            places, each, times_each = zip(*batch, strict=True)
            try:
                wide = [values if values.dtype is dtype else values.to(dtype) for values in each]
                flat = torch._C._nn.flatten_dense_tensors(wide).numpy()
                parts, histogram = _measure_joined(flat, np.array([values.numel() for values in each]), seen)
                rows = np.empty((len(batch), layout.WIDTH))
                layout.write_rows(parts, histogram, np.array(times_each), rows, np)
                target[list(places)] = rows
            except Exception as error:
                failed.update(dict.fromkeys(places, _failure(error)))
    return failed


def _lies_ready(tensor: torch.Tensor) -> bool:
    """Small and in one piece, as most of thousands are: they are joined without a look at each."""
    return (
        0 < tensor.numel() <= SMALL
        and tensor.layout is torch.strided
        and tensor.dtype not in _COMPLEX
        and tensor.is_contiguous()
        and not tensor.is_neg()
        and not tensor._is_zerotensor()
    )


def _fill_row_of_large(values: torch.Tensor, times: int, more: list[Any], seen: int, row: Array) -> None:
    parts, histogram = _measure_large(values, max(seen, values.numel()) if seen and more else seen)
    if seen and more:
        histogram[0] += more[0][0]
    whole = layout.combine(np.array([[*parts, *more]]), np)
    layout.write_rows(whole, histogram[None], np.array([times]), row[None], np)


def _failure(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).splitlines()[0][:200] if str(error) else 'no message'}"


def _width(values: torch.Tensor) -> torch.dtype:
    return torch.float32 if values.dtype in _NARROW else torch.float64


def _batches(group: list[Item]) -> Iterator[list[Item]]:
    numbers = np.cumsum([values.numel() for _, values, _ in group]) // JOINED + np.arange(len(group)) // TOGETHER
    for _, batch in groupby(zip(numbers, group, strict=True), key=itemgetter(0)):
        yield [item for _, item in batch]


def _measure_joined(x: Array, lengths: Array, seen: int) -> tuple[Array, Array]:
    """One part and one histogram per segment of `x`; no segment is empty."""
    starts = np.cumsum(lengths) - lengths
    low, high = np.minimum.reduceat(x, starts), np.maximum.reduceat(x, starts)
    zeros = np.equal(x, 0)
    zero = np.add.reduceat(zeros, starts, dtype=np.int64) if np.count_nonzero(zeros) else np.zeros_like(starts)
    histogram = layout.histogram(x, zero, lengths) if seen else np.zeros((len(starts), layout.BINS))
    least, most = _SAFE[x.dtype]
    top = np.maximum(-low, high)
    if not np.all((top == 0) | ((top >= least) & (top <= most))):  # nor is anything of this true of NaN
        return _measure_carefully(x, starts, lengths, zero), histogram
    shift = (np.add.reduceat(x, starts) / lengths).astype(x.dtype)
    x = x - np.repeat(shift, lengths)
    drift = np.add.reduceat(x, starts) / lengths
    spread = np.add.reduceat(np.multiply(x, x, out=x), starts) / lengths
    std = np.sqrt(np.maximum(spread - drift * drift, 0))
    none = np.zeros(len(starts))
    return np.stack([lengths, none, none, zero, shift + drift, std, low, high], 1), histogram


def _measure_carefully(x: Array, starts: Array, lengths: Array, zero: Array) -> Array:
    """As above for what is not finite, or so large or small that its squares are not: masked, in float64, scaled."""
    x = x.astype(np.float64)
    finite = np.isfinite(x)
    nan = np.add.reduceat(np.isnan(x), starts, dtype=np.int64)
    n = np.add.reduceat(finite, starts, dtype=np.int64)
    low = np.minimum.reduceat(np.where(finite, x, np.inf), starts)
    high = np.maximum.reduceat(np.where(finite, x, -np.inf), starts)
    top = np.maximum(-low, high)
    scale = np.where(top > 0, top, 1.0)
    x = np.where(finite, x, 0.0) / np.repeat(scale, lengths)
    mean = np.add.reduceat(x, starts) / np.maximum(n, 1)
    x = np.where(finite, x - np.repeat(mean, lengths), 0.0)
    std = np.sqrt(np.add.reduceat(x * x, starts) / np.maximum(n, 1))
    return np.stack([n, nan, lengths - n - nan, zero, mean * scale, std * scale, low, high], 1)


def _measure_large(values: torch.Tensor, seen: int) -> tuple[list[Any], Array]:
    """The parts of a tensor of any size, and its histogram over slices spread evenly over it."""
    if values.numel() == 0:
        return [layout.NOTHING], np.zeros(layout.BINS)
    dtype, parts, histogram = _width(values), [], np.zeros(layout.BINS)
    converted = None if values.dtype is dtype else torch.empty(min(PIECE, values.numel()), dtype=dtype)
    scratch = np.empty(min(PIECE, values.numel()), np.float32 if dtype is torch.float32 else np.float64)
    slices: list[Array] = []
    for number, piece in enumerate(layout.pieces(values, PIECE)):
        x = piece
        if converted is not None:
            x = converted[: piece.numel()]
            for begin in range(0, piece.numel(), SERIAL):
                x[begin : begin + SERIAL].copy_(piece[begin : begin + SERIAL])
        parts.append(_measure_piece(x.numpy(), scratch[: x.numel()]))
        if seen:
            slices.append(_looked_at(x, number, seen / values.numel()).numpy().copy())
            if sum(map(len, slices)) >= SMALL:
                histogram += _histogram_of(slices)
                slices = []
    return parts, histogram + _histogram_of(slices) if slices else histogram


def _histogram_of(slices: list[Array]) -> Array:
    """Neither slice by slice, for each call costs, nor all at once, for large temporaries cost page faults."""
    joined = np.concatenate(slices)
    blocks = [joined[begin : begin + SMALL] for begin in range(0, len(joined), SMALL)]
    return np.sum([layout.histogram(block, np.count_nonzero(block == 0))[0] for block in blocks], 0)


def _looked_at(piece: torch.Tensor, number: int, share: float) -> torch.Tensor:
    """The slice of a piece that goes into the histogram.

    The slices wander, lest a tensor whose rows are as long as a piece show the same columns every time.
    """
    size = piece.numel()
    width = min(size, math.ceil(size * share))
    offset = number * 7919 * width % (size - width + 1)
    return piece[offset : offset + width]


def _measure_piece(x: Array, scratch: Array) -> Sequence[float]:
    n, low, high = len(x), float(np.minimum.reduce(x)), float(np.maximum.reduce(x))
    zero = 0 if low > 0 or high < 0 else int(np.count_nonzero(np.equal(x, 0)))
    least, most = _SAFE[x.dtype]
    if not (least <= max(-low, high) <= most or low == high == 0):  # nor is anything of this true of NaN
        careful: list[float] = _measure_carefully(x, np.array([0]), np.array([n]), np.array([zero]))[0].tolist()
        return careful
    shift = x.dtype.type(_sum(x) / n)
    np.subtract(x, shift, out=scratch)
    spread, drift = _sum_of_squares(scratch) / n, 0.0
    if spread < 1e-6 * float(shift) ** 2:  # only here does the rounding of the shift show
        drift = _sum(scratch) / n
    return n, 0.0, 0.0, zero, float(shift) + drift, math.sqrt(max(spread - drift * drift, 0.0)), low, high


def _sum(x: Array) -> float:
    """Sums of 2048 each, then their sum: exact enough, and faster than numpy's own."""
    whole = len(x) // 2048 * 2048
    return float(np.einsum("ij->i", x[:whole].reshape(-1, 2048)).sum(dtype=np.float64) + np.add.reduce(x[whole:]))


def _sum_of_squares(x: Array) -> float:
    """The same. Rows this short are no reason for BLAS to wake threads of its own."""
    whole = len(x) // 2048 * 2048
    rows, rest = x[:whole].reshape(-1, 2048), x[whole:]
    each = (
        np.vecdot(rows, rows) if hasattr(np, "vecdot") else np.einsum("ij,ij->i", rows, rows)
    )  # numpy 1 has no vecdot
    return float(each.sum(dtype=np.float64) + np.dot(rest, rest))


def _on_device(ready: list[tuple[int, torch.Tensor]], out: torch.Tensor, seen: int) -> dict[int, str]:
    failed: dict[int, str] = {}
    for place, tensor in ready:
        try:
            values, times, more = _real(tensor)
            wanted = max(seen, values.numel()) if seen and more else seen
            parts, histogram = _measure_on_device(values, wanted, out.dtype)
            for part in more:
                parts.append(torch.stack([_number(value, parts[0]) for value in part]))
                histogram[0] += parts[-1][3] if seen else 0
            whole = layout.combine(torch.stack(parts)[None], torch)
            layout.write_rows(whole, histogram[None], _number(float(times), whole)[None], out[place][None], torch)
        except Exception as error:
            failed[place] = _failure(error)
    return failed


def _number(value: float | torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """A scalar on the device; filled there, since a copy from the host would wait."""
    return value.to(like) if isinstance(value, torch.Tensor) else like.new_full((), value)


def _measure_on_device(values: torch.Tensor, seen: int, wide: torch.dtype) -> tuple[list[torch.Tensor], torch.Tensor]:
    parts, slices = [], []
    for number, piece in enumerate(layout.pieces(values, DEVICE_PIECE)):
        x = piece.to(wide)
        parts.append(_measure_masked(x))
        slices.append(_looked_at(x, number, seen / max(1, values.numel())))
    magnitudes = torch.cat(slices).abs().nan_to_num_(float("inf"), float("inf"))
    # Sorted, the counts are differences of positions: where the zeros end, where each edge is, where Inf and NaN begin.
    below = torch.searchsorted(magnitudes.sort()[0], _edges(values.device, wide))
    ends = torch.cat([(magnitudes == 0).sum()[None], below, magnitudes.isfinite().sum()[None]])
    return parts, torch.diff(ends, prepend=torch.zeros_like(ends[:1])).to(wide)


@cache
def _edges(device: torch.device, dtype: torch.dtype) -> torch.Tensor:
    edges = torch.tensor([2.0**edge for edge in layout.EDGES], dtype=torch.float64).to(dtype)
    return edges.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else edges.to(device)


def _measure_masked(x: torch.Tensor) -> torch.Tensor:
    finite = x.isfinite()
    n, nan, zero = finite.sum().to(x), x.isnan().sum().to(x), (x == 0).sum().to(x)
    nothing = x.new_full((1,), float("inf"))  # there is no smallest of nothing
    low = torch.cat([torch.where(finite, x, float("inf")), nothing]).amin()
    high = torch.cat([torch.where(finite, x, float("-inf")), -nothing]).amax()
    top = torch.maximum(-low, high)
    scale = torch.where(top > 0, top, 1.0)
    x = torch.where(finite, x, 0.0) / scale
    mean = x.sum() / n.clamp(min=1)
    x = torch.where(finite, x - mean, 0.0)
    std = ((x * x).sum() / n.clamp(min=1)).sqrt()
    return torch.stack([n, nan, x.numel() - n - nan, zero, mean * scale, std * scale, low, high])
