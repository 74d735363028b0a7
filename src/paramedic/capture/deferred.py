"""Read numbers from an accelerator without waiting for it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import suppress

import torch

MOST_WAITING = 256

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
            # No event to ask: what is old has surely arrived.
            self._waiting.append((numbers, None, use))
            if len(self._waiting) > MOST_WAITING:
                self._take()
            return
        host = torch.empty(numbers.shape, dtype=numbers.dtype, pin_memory=True)
        host.copy_(numbers, non_blocking=True)
        arrived = torch.cuda.Event()
        arrived.record()
        self._waiting.append((host, arrived, use))

    def poll(self) -> None:
        """Hand out what has arrived, in order, without waiting."""
        while self._waiting and (event := self._waiting[0][1]) is not None and event.query():
            self._take()

    def finish(self) -> None:
        """Wait for the rest: the run is over."""
        while self._waiting:
            event = self._waiting[0][1]
            try:
                if event is not None:
                    event.synchronize()
            except RuntimeError:  # the device has failed and will not answer any more
                self._give_up()
                return
            self._take()

    def _give_up(self) -> None:
        """Tell what is known without the numbers."""
        for numbers, _, use in self._waiting:
            with suppress(ValueError, OverflowError):
                use([float("nan")] * numbers.numel())
        self._waiting.clear()

    def _take(self) -> None:
        numbers, _, use = self._waiting.popleft()
        use(numbers.tolist())
