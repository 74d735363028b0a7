"""Tensors in a handful of numbers each: one pass, many at a time, and never a wait for the device.

    collector = Collector()
    collector.add(tensors)      # as often as needed in a step; rows are written where the tensors are
    collector.send("step 12")   # one asynchronous copy to the host
    ...
    for batch in collector.take():  # what has arrived by now, oldest first
        ...

A call costs about 0.1 ms on a CPU and two or three launches on a GPU, whether for one tensor or a thousand: add lists,
not single tensors. Torch is imported when the first tensor comes, Triton when the first CUDA tensor does; its kernels
are compiled then, or in `prepare`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from paramedic.capture.stats import layout
from paramedic.record.summary import NotSummarised, Summary, from_row

if TYPE_CHECKING:
    import torch

__all__ = [
    "Batch",
    "Collector",
    "NotSummarised",
    "Summary",
    "from_row",
    "prepare",
    "summaries",
    "summarise",
    "summarise_into",
]

Home = tuple[Any, int]  # a device, and a stream of it
ROWS = 1024  # a buffer begins with so many and doubles when it must

_no_kernels: list[str] = []  # why the fused kernels do not run here, once that is known
_ready: set[torch.device] = set()  # whose kernels are compiled; until then the portable way serves


def summarise_into(tensors: Sequence[torch.Tensor], out: torch.Tensor, *, seen: int | None = None) -> list[str | None]:
    """Write one packed row per tensor into `out`, by the fastest way its device has; see portable.summarise_into."""
    import torch

    from paramedic.capture.stats import portable

    with torch._C.DisableTorchFunction():  # even to ask would be seen by the script's modes
        on_cuda = out.is_cuda
    if on_cuda and not _no_kernels and out.device in _ready:
        try:
            from paramedic.capture.stats import fused

            return fused.summarise_into(tensors, out, seen=seen)
        except Exception as error:  # no Triton, no compiler, an old GPU: slower then, but not without numbers
            _no_kernels.append(f"{type(error).__name__}: {error}")
    return portable.summarise_into(tensors, out, seen=seen)


def prepare(device: torch.device) -> None:
    """Have the kernels of a CUDA device compiled before they are needed; of no other device anything."""
    import torch

    if torch.device(device).type == "cuda" and not _no_kernels:
        try:
            from paramedic.capture.stats import fused

            fused.prepare(device)
            _ready.add(torch.device(device))
        except Exception as error:
            _no_kernels.append(f"{type(error).__name__}: {error}")


def summarise(tensors: Sequence[torch.Tensor], *, seen: int | None = None) -> list[Summary | NotSummarised]:
    """The summaries now, even if that means to wait: for tests, reports and shells."""
    collector = Collector(seen=seen)
    collector.add(tensors)
    collector.send(None)
    return summaries(next(collector.finish()))


def summaries(batch: Batch) -> list[Summary | NotSummarised]:
    """A batch in words: one summary per tensor, or why there is none."""
    rows = batch.rows.tolist()
    return [from_row(batch.reasons.get(place, row)) for place, row in enumerate(rows)]


class Batch(NamedTuple):
    """The packed rows of one batch, in the order in which the tensors were added."""

    tag: Any
    rows: layout.Array  # float64; a row of NaN where there is a reason
    reasons: dict[int, str]  # why a tensor was not summarised, by its place


class Collector:
    """Collects summaries over a step and brings them to the host; nothing here waits, but `finish`."""

    def __init__(self, *, seen: int | None = None, most_under_way: int = 8) -> None:
        self.lost = 0  # batches dropped because so many others were under way
        self._seen = seen
        self._most = most_under_way
        self._lock = Lock()  # gradients of several devices come from several threads
        self._buffers: dict[Home, _Buffer] = {}
        self._batch = _Open()
        self._sent: deque[tuple[object, _Open, dict[Home, _Shipment]]] = deque()

    def add(self, tensors: Sequence[torch.Tensor]) -> None:
        """Summarise these into the batch; they come out in this order."""
        from paramedic.capture.stats.calm import undisturbed

        with self._lock, undisturbed():
            places = self._batch.places(len(tensors))
            for home, mine in _by_home(tensors):
                chosen = tensors if mine is None else [tensors[index] for index in mine]
                at = places if mine is None else [places[index] for index in mine]
                try:
                    rows = self._summarise(home, chosen, at)
                except Exception as error:  # out of memory, at the worst
                    self._batch.reasons.update(dict.fromkeys(at, f"{type(error).__name__}: {error}"))
                else:
                    self._batch.parts.append((home, rows, at))

    def _summarise(self, home: Home, tensors: Sequence[torch.Tensor], at: Sequence[int]) -> range:
        buffer = self._buffers.get(home)
        if buffer is None:
            buffer = self._buffers[home] = _Buffer(home)
        rows = buffer.next(len(tensors))
        reasons = summarise_into(tensors, buffer.rows[rows.start : rows.stop], seen=self._seen)
        self._batch.reasons.update((place, reason) for place, reason in zip(at, reasons, strict=True) if reason)
        return rows

    def send(self, tag: object) -> bool:
        """Start to copy the batch to the host. False if it was dropped, for too many are still under way."""
        from paramedic.capture.stats.calm import undisturbed

        with self._lock, undisturbed():
            batch, self._batch = self._batch, _Open()
            full = {home: buffer for home, buffer in self._buffers.items() if buffer.used}
            if kept := len(self._sent) < self._most:
                self._sent.append((tag, batch, {home: buffer.ship() for home, buffer in full.items()}))
            self.lost += not kept
            for buffer in full.values():
                buffer.used = 0
        return kept

    def ready(self) -> bool:
        """Whether the oldest batch has arrived."""
        later = len(self._sent) > 1
        return bool(self._sent) and all(shipment.arrived(later) for shipment in self._sent[0][2].values())

    def take(self) -> Iterator[Batch]:
        """The batches that have arrived, oldest first."""
        while self.ready():
            yield self._unpack()

    def finish(self) -> Iterator[Batch]:
        """All that were sent, waiting for them: the run is over."""
        while self._sent:
            yield self._unpack()

    def _unpack(self) -> Batch:
        from paramedic.capture.stats.calm import undisturbed

        tag, batch, shipments = self._sent.popleft()
        with undisturbed():
            arrived = {home: shipment.open() for home, shipment in shipments.items()}
        table = np.full((batch.count, layout.WIDTH), np.nan)
        for home, rows, places in batch.parts:
            table[np.asarray(places)] = arrived[home][rows.start : rows.stop]
        if batch.reasons:
            table[list(batch.reasons)] = np.nan
        return Batch(tag, table, batch.reasons)


class _Open:
    """A batch that is being collected: where each tensor's row will be, or why there will be none."""

    def __init__(self) -> None:
        self.count = 0
        self.parts: list[tuple[Home, range, Sequence[int]]] = []
        self.reasons: dict[int, str] = {}

    def places(self, number: int) -> range:
        first, self.count = self.count, self.count + number
        return range(first, self.count)


def _by_home(tensors: Sequence[torch.Tensor]) -> Iterator[tuple[Home, list[int] | None]]:
    """Tensors by the device and stream where they are summarised; None stands for all of them."""
    import torch

    plain = {torch.Tensor, torch.nn.Parameter}
    if plain.issuperset(map(type, tensors)) and len(found := {tensor.device for tensor in tensors}) == 1:
        (device,) = found
        if device.type in ("cpu", "cuda"):
            yield _home(device), None
            return
    host = torch.device("cpu")  # what has no values goes there, and is told so
    devices = [tensor.device if type(tensor) in plain and not tensor.is_meta else host for tensor in tensors]
    for device in dict.fromkeys(devices):
        yield _home(device), [index for index, other in enumerate(devices) if other == device]


def _home(device: torch.device) -> Home:
    import torch

    return device, torch.cuda.current_stream(device).cuda_stream if device.type == "cuda" else 0


class _Buffer:
    """Rows on one device, written on one stream and so in order."""

    def __init__(self, home: Home) -> None:
        import torch

        self.device, self.used = home[0], 0
        self.stream = torch.cuda.current_stream(self.device) if self.device.type == "cuda" else None
        self.spare: list[torch.Tensor] = []  # host memory whose batch has been read
        self._make_room(ROWS)

    def _make_room(self, rows: int) -> None:
        import torch

        dtype = torch.float32 if self.device.type == "mps" else torch.float64
        old, self.rows = getattr(self, "rows", None), torch.empty(rows, layout.WIDTH, dtype=dtype, device=self.device)
        if old is not None:
            self.rows[: self.used].copy_(old[: self.used])
        self.spare = [torch.empty_like(self.rows, device="cpu", pin_memory=True) for _ in range(2) if self.stream]

    def next(self, rows: int) -> range:
        first, self.used = self.used, self.used + rows
        if self.used > len(self.rows):
            self.used = first
            self._make_room(max(2 * len(self.rows), first + rows))
            self.used = first + rows
        return range(first, first + rows)

    def ship(self) -> _Shipment:
        """Send the used rows to the host, behind all that is queued on the stream."""
        import torch

        if self.stream is None:
            return _Shipment(self, self.rows[: self.used].clone(), None)
        host = self.spare.pop() if self.spare else torch.empty_like(self.rows, device="cpu", pin_memory=True)
        with torch.cuda.stream(self.stream):
            host[: self.used].copy_(self.rows[: self.used], non_blocking=True)
            event = torch.cuda.Event()
            event.record(self.stream)
        return _Shipment(self, host, event)


class _Shipment:
    """The rows of one batch from one device, on their way."""

    def __init__(self, origin: _Buffer, rows: torch.Tensor, event: torch.cuda.Event | None) -> None:
        self.origin, self.rows, self.event, self.count = origin, rows, event, origin.used

    def arrived(self, later: bool) -> bool:
        """Without an event to ask, a batch counts as arrived when a later one has been sent."""
        return self.event.query() if self.event else self.rows.device.type == "cpu" or later

    def open(self) -> layout.Array:
        """The rows as numbers; waits if need be."""
        if self.event is not None:
            self.event.synchronize()
        numbers: layout.Array = self.rows[: self.count].double().cpu().numpy().copy()
        if self.event is not None and len(self.rows) == len(self.origin.rows):
            self.origin.spare.append(self.rows)
        return numbers
