"""The Triton kernels: one reduces chunks of many tensors, one merges the chunks of each.

Import this module only where there is CUDA: it imports Triton. (TRITON_INTERPRET=1 runs it anywhere, slowly.)
"""

# mypy: disable-error-code="no-untyped-def, valid-type"
# (Triton reads the annotations of a kernel as code, so only its own may stand there.)

from __future__ import annotations

import importlib
from typing import Any

import torch

from paramedic.aliases import Fields, Function
from paramedic.capture.stats import layout

triton: Any = importlib.import_module("triton")
tl: Any = importlib.import_module("triton.language")

# A thread has four loads of four elements under way, and so few registers that 28 warps fit on a multiprocessor:
# enough bytes in flight for the memory's latency, with no spills in the loop that matters (compiled for sm_90).
THREADS, ROWS, LANES = 128, 4, 512
BLOCK = ROWS * LANES
LAUNCH: Fields = {"num_warps": THREADS // 32} | ({} if torch.version.hip else {"maxnreg": 72})
DTYPES: dict[torch.dtype, object] = {
    torch.float32: tl.float32,
    torch.bfloat16: tl.uint16,
    torch.float16: tl.float16,
}

# The table: for each tensor these int64s, then for each chunk the tensor it belongs to.
NUMEL, CHUNK, FIRST, CHUNKS, EVERY, TIMES, ROW, COLUMNS = (tl.constexpr(column) for column in range(8))
FLOATS, COUNTS = tl.constexpr(5), tl.constexpr(3)  # what a chunk leaves behind
BINS, WIDTH, HISTOGRAM = (tl.constexpr(value) for value in (layout.BINS, layout.WIDTH, layout.HISTOGRAM))
# All is well where the sum of squares is below the one and the largest magnitude above the other.
LARGEST, SMALLEST = tl.constexpr(1e38), tl.constexpr(2.0**-40)


def jit(kernel: Function) -> Any:  # a kernel, which is indexed with a grid
    return triton.jit(kernel, do_not_specialize=["first", "tensors"])


def device_function(function: Function) -> Function:
    return triton.jit(function)


@device_function
def _float(x):
    """As float32, subnormals and all; bf16 comes as its bits, which are the upper half of the float32."""
    if x.dtype == tl.uint16:
        return (x.to(tl.uint32) << 16).to(tl.float32, bitcast=True)
    else:  # noqa: RET505 - Triton compiles one of the two
        return x.to(tl.float32)


@device_function
def _block(data, begin, n, offsets):
    """One block as float32; beyond the end zeros."""
    return _float(tl.load(data + begin + offsets, mask=begin + offsets < n, other=0))


@device_function
def _exact_moments(data, n, top, offsets, BLOCK: tl.constexpr, LANES: tl.constexpr):
    """Mean, remainder of the mean and deviation of the finite values; `top` is the largest of their magnitudes."""
    # Scaled by a power of two near the top, squares neither overflow nor vanish.
    field = tl.minimum(tl.maximum(top.to(tl.int32, bitcast=True) >> 23, 1), 253)
    scale = (field << 23).to(tl.float32, bitcast=True)
    inverse = ((254 - field) << 23).to(tl.float32, bitcast=True)
    total = tl.zeros((LANES,), tl.float32)
    finite = tl.zeros((LANES,), tl.int32)
    for begin in range(0, n, BLOCK):
        x = _block(data, begin, n, offsets)
        good = (tl.abs(x) < float("inf")) & (begin + offsets < n)
        total += tl.sum(tl.where(good, x * inverse, 0.0), 0)
        finite += tl.sum(good.to(tl.int32), 0)
    count = tl.maximum(tl.sum(finite, 0), 1).to(tl.float32)
    mean = tl.sum(total, 0) / count
    drift = tl.zeros((LANES,), tl.float32)
    spread = tl.zeros((LANES,), tl.float32)
    for begin in range(0, n, BLOCK):
        x = _block(data, begin, n, offsets)
        good = (tl.abs(x) < float("inf")) & (begin + offsets < n)
        d = tl.where(good, x * inverse - mean, 0.0)
        drift += tl.sum(d, 0)
        spread += tl.sum(d * d, 0)
    rest = tl.sum(drift, 0) / count
    variance = tl.maximum(tl.sum(spread, 0) / count - rest * rest, 0.0)
    return mean * scale, rest * scale, tl.sqrt(variance) * scale


@device_function
def _extremes(data, n, offsets, BLOCK: tl.constexpr, LANES: tl.constexpr):
    """Smallest and largest finite value, and the counts of NaN and Inf."""
    low = tl.full((LANES,), float("inf"), tl.float32)
    high = tl.full((LANES,), float("-inf"), tl.float32)
    nan = tl.zeros((LANES,), tl.int32)
    inf = tl.zeros((LANES,), tl.int32)
    for begin in range(0, n, BLOCK):
        x = _block(data, begin, n, offsets)
        good = (tl.abs(x) < float("inf")) & (begin + offsets < n)
        low = tl.minimum(low, tl.min(tl.where(good, x, float("inf")), 0))
        high = tl.maximum(high, tl.max(tl.where(good, x, float("-inf")), 0))
        nan += tl.sum((x != x).to(tl.int32), 0)
        inf += tl.sum((tl.abs(x) == float("inf")).to(tl.int32), 0)
    return tl.min(low, 0), tl.max(high, 0), tl.sum(nan, 0), tl.sum(inf, 0)


@device_function
def _bins(x, inside):
    """The histogram's bin of each value, as in layout.EDGES; the last for what is not finite or not there."""
    bits = x.to(tl.int32, bitcast=True) & 0x7FFFFFFF
    field = tl.where(inside, bits >> 23, 255)  # the exponent + 127
    octaves = (field - 87) >> 1  # right from 2**-32 up to 2**16
    low = tl.where(bits == 0, 0, 1 + (field >= 1).to(tl.int32) + (field >= 63).to(tl.int32))
    high = 28 + (field >= 159).to(tl.int32) + (field >= 191).to(tl.int32) + (field >= 255).to(tl.int32)
    return tl.where(field < 95, low, tl.where(field < 143, octaves, high))


@jit
def measure(
    table, pointers, floats, counts, histograms, first, tensors,
    DTYPE: tl.constexpr, ALIGNED: tl.constexpr, ROWS: tl.constexpr, LANES: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Reduce one chunk of one tensor."""
    chunk = first + tl.program_id(0)
    owner = tl.load(table + tensors * COLUMNS + chunk)
    entry = table + owner * COLUMNS
    size = tl.load(entry + CHUNK)
    start = (chunk - tl.load(entry + FIRST)) * size
    n = tl.minimum(size, tl.load(entry + NUMEL) - start).to(tl.int32)
    data = tl.load(pointers + owner).to(tl.pointer_type(DTYPE)) + start
    if ALIGNED:
        data = tl.multiple_of(data, 4 * (DTYPE.primitive_bitwidth // 8))  # load four at a time
    lanes = tl.arange(0, LANES)
    offsets = tl.arange(0, ROWS)[:, None] * LANES + lanes[None, :]

    here = _float(tl.load(data))
    origin = tl.where(lanes < n, _float(tl.load(data + lanes, mask=lanes < n, other=0)), here)
    total = tl.zeros((LANES,), tl.float32)
    squares = tl.zeros((LANES,), tl.float32)
    zeros = tl.zeros((LANES,), tl.int32)
    lows, highs = origin, origin
    full = n // BLOCK * BLOCK
    for begin in range(0, full, BLOCK):
        x = _float(tl.load(data + begin + offsets))
        d = x - origin[None, :]
        total += tl.sum(d, 0)
        squares += tl.sum(d * d, 0)
        lows = tl.minimum(lows, tl.min(x, 0))
        highs = tl.maximum(highs, tl.max(x, 0))
        zeros += tl.sum((x == 0.0).to(tl.int32), 0)
    if full < n:
        inside = full + offsets < n
        x = tl.where(inside, _block(data, full, n, offsets), origin[None, :])
        d = x - origin[None, :]
        total += tl.sum(d, 0)
        squares += tl.sum(d * d, 0)
        lows = tl.minimum(lows, tl.min(x, 0))
        highs = tl.maximum(highs, tl.max(x, 0))
        zeros += tl.sum(((x == 0.0) & inside).to(tl.int32), 0)

    # Each lane's mean and squared deviations, then those of all lanes; differences only, so no digits are lost.
    each = (full // LANES + tl.where(lanes < n - full, (n - full - lanes + LANES - 1) // LANES, 0)).to(tl.float32)
    shift = total / tl.maximum(each, 1.0)
    mean_of_lane = (origin - here) + shift
    mean, rest = here, tl.sum(each * mean_of_lane, 0) / n
    between = mean_of_lane - rest
    spread = tl.sum(squares - total * shift + each * between * between, 0)
    deviation = tl.sqrt(tl.maximum(spread, 0.0) / n)
    low, high = tl.min(lows, 0), tl.max(highs, 0)
    top = tl.maximum(-low, high)
    nan, inf = 0, 0
    if (spread < LARGEST) & ((top >= SMALLEST) | (top == 0.0)):
        pass
    else:  # also where the spread is NaN
        low, high, nan, inf = _extremes(data, n, offsets, BLOCK, LANES)
        top = tl.where(n > nan + inf, tl.maximum(-low, high), 0.0)
        mean, rest, deviation = _exact_moments(data, n, top, offsets, BLOCK, LANES)

    left = floats + chunk * FLOATS
    tl.store(left, mean)
    tl.store(left + 1, rest)
    tl.store(left + 2, deviation)
    tl.store(left + 3, low)
    tl.store(left + 4, high)
    tl.store(counts + chunk * COUNTS, nan)
    tl.store(counts + chunk * COUNTS + 1, inf)
    tl.store(counts + chunk * COUNTS + 2, tl.sum(zeros, 0))

    every = tl.load(entry + EVERY).to(tl.int32)
    if every > 0:
        behind = (start // BLOCK % every).to(tl.int32)  # how many blocks ago the last one to look at was
        histogram = tl.zeros((BINS,), tl.int32)
        for block in range((every - behind) % every, full // BLOCK, every):
            bins = _bins(_float(tl.load(data + block * BLOCK + offsets)), True)
            histogram += tl.histogram(tl.reshape(bins, (BLOCK,), can_reorder=True), BINS)
        if (full < n) & ((full // BLOCK + behind) % every == 0):
            bins = _bins(_block(data, full, n, offsets), full + offsets < n)
            histogram += tl.histogram(tl.reshape(bins, (BLOCK,), can_reorder=True), BINS)
        place = histograms + owner * BINS + tl.arange(0, BINS)
        tl.atomic_add(place, histogram, mask=histogram > 0, sem="relaxed")


@jit
def merge(table, floats, counts, histograms, out, PARTS: tl.constexpr):
    """Write one tensor's row from what its chunks left, in float64, and clear its histogram for the next time."""
    owner = tl.program_id(0).to(tl.int64)
    entry = table + owner * COLUMNS
    numel, size, chunks = tl.load(entry + NUMEL), tl.load(entry + CHUNK), tl.load(entry + CHUNKS).to(tl.int32)
    first = tl.load(entry + FIRST)
    times = tl.load(entry + TIMES).to(tl.float64)
    parts = tl.arange(0, PARTS)
    weighted = tl.zeros((PARTS,), tl.float64)
    finite = tl.zeros((PARTS,), tl.int64)
    nans = tl.zeros((PARTS,), tl.int64)
    infs = tl.zeros((PARTS,), tl.int64)
    zeros = tl.zeros((PARTS,), tl.int64)
    lows = tl.full((PARTS,), float("inf"), tl.float32)
    highs = tl.full((PARTS,), float("-inf"), tl.float32)
    for begin in range(0, chunks, PARTS):
        there = begin + parts < chunks
        left = floats + (first + begin + parts) * FLOATS
        tally = counts + (first + begin + parts) * COUNTS
        nan = tl.load(tally, mask=there, other=0)
        inf = tl.load(tally + 1, mask=there, other=0)
        n = tl.where(there, tl.minimum(size, numel - (begin + parts) * size) - nan - inf, 0)
        mean = tl.load(left, mask=there, other=0.0).to(tl.float64) + tl.load(left + 1, mask=there, other=0.0)
        weighted += tl.where(n > 0, n * mean, 0.0)
        finite += n
        nans += nan
        infs += inf
        zeros += tl.load(tally + 2, mask=there, other=0)
        lows = tl.minimum(lows, tl.where(n > 0, tl.load(left + 3, mask=there, other=0.0), float("inf")))
        highs = tl.maximum(highs, tl.where(n > 0, tl.load(left + 4, mask=there, other=0.0), float("-inf")))
    count = tl.sum(finite, 0).to(tl.float64)
    centre = tl.sum(weighted, 0) / tl.maximum(count, 1.0)
    squares = tl.zeros((PARTS,), tl.float64)
    for begin in range(0, chunks, PARTS):
        there = begin + parts < chunks
        left = floats + (first + begin + parts) * FLOATS
        tally = counts + (first + begin + parts) * COUNTS
        bad = tl.load(tally, mask=there, other=0) + tl.load(tally + 1, mask=there, other=0)
        n = tl.where(there, tl.minimum(size, numel - (begin + parts) * size) - bad, 0)
        mean = tl.load(left, mask=there, other=0.0).to(tl.float64) + tl.load(left + 1, mask=there, other=0.0)
        deviation = tl.load(left + 2, mask=there, other=0.0).to(tl.float64)
        squares += tl.where(n > 0, n * (deviation * deviation + (mean - centre) * (mean - centre)), 0.0)
    variance = tl.sum(squares, 0) / tl.maximum(count, 1.0)
    low, high = tl.min(lows, 0).to(tl.float64), tl.max(highs, 0).to(tl.float64)
    some = count > 0

    row = out + tl.load(entry + ROW) * WIDTH
    tl.store(row, numel.to(tl.float64) * times)
    tl.store(row + 1, tl.sum(nans, 0).to(tl.float64) * times)
    tl.store(row + 2, tl.sum(infs, 0).to(tl.float64) * times)
    tl.store(row + 3, tl.sum(zeros, 0).to(tl.float64) * times)
    tl.store(row + 4, tl.where(some, centre, float("nan")))
    tl.store(row + 5, tl.where(some, tl.sqrt(variance), float("nan")))
    tl.store(row + 6, tl.where(some, tl.maximum(-low, high), float("nan")))
    tl.store(row + 7, tl.where(some, low, float("nan")))
    tl.store(row + 8, tl.where(some, high, float("nan")))
    tl.store(row + 9, tl.sqrt(count * times * (variance + centre * centre)))
    bins = tl.arange(0, BINS)
    place = histograms + owner * BINS + bins
    seen = tl.load(place)
    # In the last bin are what is not finite and what is not there; no float32 is finite from 2**128 on.
    tl.store(row + HISTOGRAM + bins, tl.where(bins == BINS - 1, 0, seen).to(tl.float64) * times)
    tl.store(place, tl.zeros((BINS,), tl.int32))
