"""Tensors in a handful of numbers each: one pass, many at a time, and never a wait for the device.

    collector = Collector()
    collector.add(tensors)      # as often as needed in a step; rows are written where the tensors are
    collector.send("step 12")   # one asynchronous copy to the host
    ...
    for tag, rows in collector.take():  # what has arrived by now, oldest first; from_row makes summaries of them
        ...

A call costs about 0.1 ms on a CPU and two or three launches on a GPU, whether for one tensor or a thousand: add lists,
not single tensors. Torch is imported when the first tensor comes, Triton when the first CUDA tensor does; its kernels
are compiled then, or in `prepare`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any

from paramedic.capture.stats import layout
from paramedic.record.summary import NotSummarised, Summary, from_row

if TYPE_CHECKING:
    import torch

__all__ = ["Collector", "NotSummarised", "Summary", "from_row", "prepare", "summarise", "summarise_into"]

Home = tuple[Any, int]  # a device, and a stream of it
Row = list[float] | str  # a packed row, or why there is none
Place = tuple[Home, int] | str  # where a tensor's row is, or why there is none
ROWS = 1024  # a buffer begins with so many and doubles when it must

_no_kernels: list[str] = []  # why the fused kernels do not run here, once that is known


def summarise_into(tensors: Sequence[torch.Tensor], out: torch.Tensor, *, seen: int | None = None) -> list[str | None]:
    """Write one packed row per tensor into `out`, by the fastest way its device has; see portable.summarise_into."""
    import torch

    from paramedic.capture.stats import portable

    with torch._C.DisableTorchFunction():  # even to ask would be seen by the script's modes
        on_cuda = out.is_cuda
    if on_cuda and not _no_kernels:
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
        except Exception as error:
            _no_kernels.append(f"{type(error).__name__}: {error}")


def summarise(tensors: Sequence[torch.Tensor], *, seen: int | None = None) -> list[Summary | NotSummarised]:
    """The summaries now, even if that means to wait: for tests, reports and shells."""
    collector = Collector(seen=seen)
    collector.add(tensors)
    collector.send(None)
    return [from_row(row) for row in next(collector.finish())[1]]


class Collector:
    """Collects summaries over a step and brings them to the host; nothing here waits, but `finish`."""

    def __init__(self, *, seen: int | None = None, most_under_way: int = 8) -> None:
        self.lost = 0  # batches dropped because so many others were under way
        self._seen = seen
        self._most = most_under_way
        self._lock = Lock()  # gradients of several devices come from several threads
        self._buffers: dict[Home, _Buffer] = {}
        self._places: list[Place] = []  # of the batch being collected
        self._sent: deque[tuple[Any, list[Place], dict[Home, _Shipment]]] = deque()

    def add(self, tensors: Sequence[torch.Tensor]) -> None:
        """Summarise these into the batch; they come out in this order."""
        from paramedic.capture.stats.portable import undisturbed

        places: list[Place] = [""] * len(tensors)
        with self._lock, undisturbed():
            homes = [_home(tensor) for tensor in tensors]
            for home in dict.fromkeys(homes):
                mine = [index for index, other in enumerate(homes) if other == home]
                try:
                    found = self._summarise(home, [tensors[index] for index in mine])
                except Exception as error:  # out of memory, at the worst
                    found = [f"{type(error).__name__}: {error}"] * len(mine)
                for index, place in zip(mine, found, strict=True):
                    places[index] = place
            self._places += places

    def _summarise(self, home: Home, tensors: list[torch.Tensor]) -> list[Place]:
        buffer = self._buffers.get(home)
        if buffer is None:
            buffer = self._buffers[home] = _Buffer(home)
        rows = buffer.next(len(tensors))
        reasons = summarise_into(tensors, buffer.rows[rows.start : rows.stop], seen=self._seen)
        return [reason or (home, row) for reason, row in zip(reasons, rows, strict=True)]

    def send(self, tag: Any) -> bool:
        """Start to copy the batch to the host. False if it was dropped, for too many are still under way."""
        from paramedic.capture.stats.portable import undisturbed

        with self._lock, undisturbed():
            places, self._places = self._places, []
            full = {home: buffer for home, buffer in self._buffers.items() if buffer.used}
            if kept := len(self._sent) < self._most:
                self._sent.append((tag, places, {home: buffer.ship() for home, buffer in full.items()}))
            self.lost += not kept
            for buffer in full.values():
                buffer.used = 0
        return kept

    def ready(self) -> bool:
        """Whether the oldest batch has arrived."""
        later = len(self._sent) > 1
        return bool(self._sent) and all(shipment.arrived(later) for shipment in self._sent[0][2].values())

    def take(self) -> Iterator[tuple[Any, list[Row]]]:
        """The batches that have arrived, oldest first, each with its tag; see `from_row`."""
        while self.ready():
            yield self._unpack()

    def finish(self) -> Iterator[tuple[Any, list[Row]]]:
        """All that were sent, waiting for them: the run is over."""
        while self._sent:
            yield self._unpack()

    def _unpack(self) -> tuple[Any, list[Row]]:
        from paramedic.capture.stats.portable import undisturbed

        tag, places, shipments = self._sent.popleft()
        with undisturbed():
            rows = {home: shipment.open() for home, shipment in shipments.items()}
        return tag, [at if isinstance(at, str) else rows[at[0]][at[1]] for at in places]


def _home(tensor: torch.Tensor) -> Home:
    """The device and stream where a tensor is summarised; what has no values goes to the host, which will say so."""
    import torch

    if type(tensor) not in (torch.Tensor, torch.nn.Parameter) or tensor.is_meta:
        return torch.device("cpu"), 0
    return tensor.device, torch.cuda.current_stream(tensor.device).cuda_stream if tensor.is_cuda else 0


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

    def open(self) -> list[list[float]]:
        """The rows as numbers; waits if need be."""
        if self.event is not None:
            self.event.synchronize()
        numbers: list[list[float]] = self.rows[: self.count].tolist()
        if self.event is not None and len(self.rows) == len(self.origin.rows):
            self.origin.spare.append(self.rows)
        return numbers
