"""Whole tensors of an accelerator, read on the host without waiting for them: in the order in which they were sent."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

import torch

MOST_BYTES = 64 << 20  # under way at a time; what would be more is not sent

Use = Callable[[list[torch.Tensor]], object]


class Parcel(NamedTuple):
    """Tensors on the host, or soon there."""

    tensors: list[torch.Tensor]
    arrived: torch.cuda.Event | None
    use: Use
    size: int


class Bringing:
    """Each parcel is handed to its callback once it and all before it have arrived."""

    def __init__(self) -> None:
        self._waiting: deque[Parcel] = deque()
        self._under_way = 0  # bytes

    def bring(self, tensors: Sequence[torch.Tensor], use: Use) -> None:
        """Call `use` with the values that the tensors have now: at once on the CPU, later on an accelerator."""
        self.poll()
        far = [tensor for tensor in tensors if not tensor.is_cpu]
        if not far and not self._waiting:
            use(list(tensors))
            return
        size = sum(tensor.nbytes for tensor in tensors)
        if self._under_way + size > MOST_BYTES or len({tensor.device for tensor in far}) > 1 or not _sendable(far):
            return
        sent = [_sent(tensor) for tensor in tensors]
        arrived = None
        if far:
            arrived = torch.cuda.Event()
            arrived.record(torch.cuda.current_stream(far[0].device))
        self._waiting.append(Parcel(sent, arrived, use, size))
        self._under_way += size

    def poll(self) -> None:
        """Hand out what has arrived."""
        while self._waiting and ((event := self._waiting[0].arrived) is None or event.query()):
            self._hand_out()

    def finish(self) -> None:
        """Wait for the rest: the run is over."""
        with suppress(RuntimeError):  # the device has failed and will not answer any more
            while self._waiting:
                if (event := self._waiting[0].arrived) is not None:
                    event.synchronize()
                self._hand_out()
        self._waiting.clear()

    def _hand_out(self) -> None:
        parcel = self._waiting.popleft()
        self._under_way -= parcel.size
        parcel.use(parcel.tensors)


def _sendable(far: list[torch.Tensor]) -> bool:
    plain = all(tensor.device.type == "cuda" and tensor.layout is torch.strided for tensor in far)
    return plain and not (far and torch.cuda.is_current_stream_capturing())


def _sent(tensor: torch.Tensor) -> torch.Tensor:
    """A copy on the host, which may still be under way."""
    if tensor.is_cpu:
        return tensor.detach().clone()
    host = torch.empty(tensor.shape, dtype=tensor.dtype, device="cpu", pin_memory=True)
    return host.copy_(tensor.detach(), non_blocking=True)
