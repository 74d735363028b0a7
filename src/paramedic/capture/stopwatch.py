"""How long our own work takes on an accelerator, measured by events that are read when they have arrived."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

import torch

MOST_OPEN = 256

Pair = tuple[torch.cuda.Event, torch.cuda.Event]


class Stopwatch:
    """Measures stretches of work, batch by batch; nothing here waits for the device."""

    def __init__(self) -> None:
        self._stretches: list[Pair] = []
        self._closed: deque[list[Pair]] = deque()

    @contextmanager
    def running(self, device: torch.device) -> Iterator[None]:
        if device.type != "cuda" or len(self._stretches) >= MOST_OPEN:
            yield
            return
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record(torch.cuda.current_stream(device))
        yield
        end.record(torch.cuda.current_stream(device))
        self._stretches.append((begin, end))

    def close(self) -> None:
        """The stretches so far belong to one batch."""
        if self._stretches:
            self._closed.append(self._stretches)
            self._stretches = []

    def read(self) -> Iterator[float]:
        """Seconds of each batch that the device has finished."""
        while self._closed and all(end.query() for _, end in self._closed[0]):
            yield sum(begin.elapsed_time(end) for begin, end in self._closed.popleft()) / 1e3
