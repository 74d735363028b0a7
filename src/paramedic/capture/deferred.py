"""Read numbers from an accelerator without waiting for it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import torch

Use = Callable[[list[float]], object]


class Deferred:
    """Small tensors on their way to the host; each is handed to its callback once it has arrived."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[torch.Tensor, torch.Event | None, Use]] = deque()

    def read(self, numbers: torch.Tensor, use: Use) -> None:
        """Call `use` with the numbers: at once on the CPU, later on an accelerator."""
        if numbers.device.type == "cpu":
            use(numbers.tolist())
            return
        if numbers.device.type != "cuda":
            self._waiting.append((numbers, None, use))  # no event to ask: read at the end
            return
        host = torch.empty(numbers.shape, dtype=numbers.dtype, pin_memory=True)
        host.copy_(numbers, non_blocking=True)
        arrived = torch.cuda.Event()
        arrived.record()
        self._waiting.append((host, arrived, use))

    def poll(self) -> None:
        """Hand out what has arrived, in order, without waiting."""
        while self._waiting and (event := self._waiting[0][1]) is not None and event.query():
            numbers, _, use = self._waiting.popleft()
            use(numbers.tolist())

    def finish(self) -> None:
        """Wait for the rest: the run is over."""
        while self._waiting:
            numbers, event, use = self._waiting.popleft()
            if event is not None:
                event.synchronize()
            use(numbers.tolist())
