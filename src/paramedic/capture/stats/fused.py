"""Statistics of many CUDA tensors in two launches: chunks of all of them, then one row per tensor.

The common case is one read of each element and about ten instructions: differences to the first value that the same
lane saw are summed with their squares in float32, so neither a large mean nor a long sum costs digits. A chunk where
that went wrong (NaN, Inf, squares that overflow or vanish) shows in its own result and is read again, with care.
Chunks are merged in float64. The histogram reads every element of a small tensor and blocks spread over a large one.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Sequence
from contextlib import nullcontext
from itertools import repeat
from operator import attrgetter
from typing import Any

import numpy as np
import torch

from paramedic.capture.stats import kernels, layout, portable
from paramedic.capture.stats.calm import undisturbed
from paramedic.capture.stats.kernels import BINS, BLOCK, CHUNKS, COUNTS, DTYPES, FLOATS, LANES, LAUNCH, ROWS

LEAST, MOST_CHUNKS = 16 * BLOCK, 1 << 14  # elements in a chunk; how many chunks a dtype is cut into, or a few more
PLANS = 64  # tables kept, one per list of sizes
Layout = tuple[torch.dtype, int, int, bool, int]  # dtype, elements, repeats of each, aligned to 16 bytes, row


class Plan:
    """How tensors of these sizes are cut into chunks, and room for what the chunks leave."""

    def __init__(self, layouts: tuple[Layout, ...], device: torch.device, seen: int) -> None:
        self.launches: list[tuple[int, int, torch.dtype, bool]] = []  # first chunk, chunks, dtype, aligned
        self.order: list[int] = []  # the tensors in the order of the table
        self.pointers: torch.Tensor | None = None
        self._staged: deque[tuple[torch.Tensor, torch.cuda.Event]] = deque(maxlen=8)
        self._known: list[int] = []
        groups: dict[tuple[torch.dtype, bool], list[int]] = {}
        for index, (dtype, _, _, aligned, _) in enumerate(layouts):
            groups.setdefault((dtype, aligned), []).append(index)
        table: list[tuple[int, ...]] = []
        chunks = 0
        for (dtype, aligned), members in groups.items():
            began, total = chunks, sum(layouts[index][1] for index in members)
            size = max(LEAST, -(-total // (MOST_CHUNKS * BLOCK)) * BLOCK)
            for index in members:
                _, n, times, _, row = layouts[index]
                mine = -(-n // size)
                every = -(-n // seen) | 1 if seen else 0  # odd, as rows seldom are: no column is always passed over
                table.append((n, size, chunks, mine, every, times, row))
                chunks += mine
            self.order += members
            self.launches.append((began, chunks - began, dtype, aligned))
        owners = np.repeat(np.arange(len(table)), [entry[CHUNKS.value] for entry in table])
        self.table = _upload(np.concatenate([np.array(table, np.int64).reshape(-1), owners]), device)
        self.floats = torch.empty(max(1, chunks) * FLOATS.value, dtype=torch.float32, device=device)
        self.counts = torch.empty(max(1, chunks) * COUNTS.value, dtype=torch.int32, device=device)
        self.histograms = torch.zeros(len(table) * BINS.value, dtype=torch.int32, device=device)

    def run(self, addresses: list[int], out: torch.Tensor) -> None:
        if addresses != self._known:
            self._known = addresses
            self._move(np.array([addresses[index] for index in self.order], np.int64), out.device)
        room = (self.table, self.pointers, self.floats, self.counts, self.histograms)
        for first, chunks, dtype, aligned in self.launches:
            if chunks:
                shape = (DTYPES[dtype], aligned, ROWS, LANES, BLOCK)
                kernels.measure[(chunks,)](*room, first, len(self.order), *shape, **LAUNCH)
        kernels.merge[(len(self.order),)](self.table, *room[2:], out, 256, num_warps=4)

    def _move(self, addresses: Any, device: torch.device) -> None:
        """Bring the addresses to the device, through pinned memory that is used again once its copy is done."""
        if device.type != "cuda":
            self.pointers = torch.from_numpy(addresses)
            return
        if self._staged and self._staged[0][1].query():
            host, event = self._staged.popleft()
            host.numpy()[:] = addresses
        else:
            host, event = torch.from_numpy(addresses).pin_memory(), torch.cuda.Event()
        if self.pointers is None:
            self.pointers = torch.empty(len(addresses), dtype=torch.int64, device=device)
        self.pointers.copy_(host, non_blocking=True)
        event.record()
        self._staged.append((host, event))


def _upload(numbers: object, device: torch.device) -> torch.Tensor:
    """Pinned, and so copied without waiting; the allocator keeps the memory until the copy is done."""
    packed = torch.from_numpy(numbers)
    return packed.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else packed


_plans: OrderedDict[object, Plan] = OrderedDict()


def summarise_into(tensors: Sequence[torch.Tensor], out: torch.Tensor, *, seen: int | None = None) -> list[str | None]:
    """As portable.summarise_into, to which what the kernels cannot read is left."""
    seen = layout.SEEN_ON_DEVICE if seen is None else seen
    with undisturbed():
        if portable.is_capturing(out):
            return [portable.CAPTURING] * len(tensors)
        layouts, addresses, others = _look(tensors, out.device)
        if layouts:
            with torch.cuda.device(out.device) if out.is_cuda else nullcontext():
                _plan_for(layouts, out.device, seen).run(addresses, out)
    reasons: list[str | None] = [None] * len(tensors)
    if others:
        said = portable.summarise_into([tensors[index] for index in others], out, seen=seen, rows=others)
        for index, reason in zip(others, said, strict=True):
            reasons[index] = reason
    return reasons


def prepare(device: torch.device) -> None:
    """Compile every kernel now, which takes seconds, and not in the middle of a step."""
    out = torch.empty(2, layout.WIDTH, dtype=torch.float64, device=device)
    for dtype in DTYPES:
        x = torch.zeros(BLOCK + 1, dtype=dtype, device=device)
        summarise_into([x, x[1:]], out)  # the second is not aligned


_SURELY_MEMORY = 1 << 40  # an address below may be an offset into memory that has been released
_PLAIN = frozenset(portable.PLAIN)
_dtype, _layout, _device = attrgetter("dtype"), attrgetter("layout"), attrgetter("device")
_ODD = (
    attrgetter("is_nested"), torch.Tensor.is_neg, torch.Tensor._is_zerotensor,
    torch._C._functorch.is_functorch_wrapped_tensor,
)  # fmt: skip


def _are_plain(tensors: Sequence[torch.Tensor], device: torch.device) -> bool:
    """Whether the kernels can read all of them as they are. Asked question by question, as hundreds come every step."""
    return (
        _PLAIN.issuperset(map(type, tensors))
        and {torch.strided}.issuperset(map(_layout, tensors))
        and {device}.issuperset(map(_device, tensors))
        and DTYPES.keys() >= set(map(_dtype, tensors))
        and all(map(torch.Tensor.is_contiguous, tensors))
        and not any(any(map(question, tensors)) for question in _ODD)
    )


def _look(tensors: Sequence[torch.Tensor], device: torch.device) -> tuple[tuple[Layout, ...], list[int], list[int]]:
    """How the tensors lie in memory, where, and which of them must be left to the portable way."""
    addresses: list[int] = []
    if _are_plain(tensors, device):
        addresses = list(map(torch.Tensor.data_ptr, tensors))
        if min(addresses, default=0) > _SURELY_MEMORY:
            sizes, aligned = map(torch.Tensor.numel, tensors), [address % 16 == 0 for address in addresses]
            plain = zip(map(_dtype, tensors), sizes, repeat(1), aligned, range(len(addresses)), strict=False)
            return tuple(plain), addresses, []
    layouts: list[Layout] = []
    addresses = []
    others: list[int] = []
    for row, tensor in enumerate(tensors):
        found = _lie(tensor, device)
        if found is None:
            others.append(row)
        else:
            dtype, n, times, address = found
            layouts.append((dtype, n, times, address % 16 == 0, row))
            addresses.append(address)
    return tuple(layouts), addresses, others


def _lie(tensor: torch.Tensor, device: torch.device) -> tuple[torch.dtype, int, int, int] | None:
    """Its dtype, elements in memory, repeats of each, and address; None if the kernels cannot read it."""
    try:
        if portable.why_not(tensor, device) is not None or tensor.dtype not in DTYPES:
            return None
        if tensor.layout is not torch.strided:
            return None
        if tensor.is_neg() or tensor._is_zerotensor():
            return None
        if tensor.is_contiguous():
            return tensor.dtype, tensor.numel(), 1, tensor.data_ptr()
        flat, times = layout.flatten(tensor)
        # Nothing that `flatten` has to copy: the copy would be gone before the kernels come to it.
        return (tensor.dtype, flat.numel(), times, flat.data_ptr()) if flat.is_contiguous() else None
    except Exception:
        return None


def _plan_for(layouts: tuple[Layout, ...], device: torch.device, seen: int) -> Plan:
    """The plan for tensors of these sizes, kept for as long as it is in use."""
    stream = torch.cuda.current_stream(device).cuda_stream if device.type == "cuda" else 0
    key = (device, stream, seen, layouts)
    found = _plans.get(key)
    if found is None:
        found = _plans[key] = Plan(layouts, device, seen)
        while len(_plans) > PLANS:
            _plans.popitem(last=False)
    else:
        _plans.move_to_end(key)
    return found
