"""Read numbers from an accelerator without waiting for it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import suppress

import torch

MOST_WAITING = 256
TOGETHER = 16  # reads that share one copy to the host
POLLS = 4  # steps after which they no longer wait for more
SMALL = 1 << 16  # bytes: memory that may live a little longer for being read

Use = Callable[[list[float]], object]


class Deferred:
    """Small tensors on their way to the host; each is handed to its callback once it has arrived."""

    def __init__(self) -> None:
        self._young: list[tuple[torch.Tensor, int, Use]] = []  # still on the device, with their versions
        self._polls = 0  # since the last copy
        self._waiting: deque[tuple[torch.Tensor, torch.Event | None, Use]] = deque()

    def read(self, numbers: torch.Tensor, use: Use, *, copy: bool = True) -> None:
        """Call `use` with the numbers: at once on the CPU, later on an accelerator.

        Without a copy, which is cheaper, they are not used at all if they change before they are sent.
        """
        if numbers.device.type == "cpu":
            use(numbers.reshape(-1).tolist())
            return
        if numbers.device.type != "cuda":
            # No event to ask: what is old has surely arrived.
            self._waiting.append((numbers, None, use))
            if len(self._waiting) > MOST_WAITING:
                self._take()
            return
        if copy or numbers.is_inference() or numbers.untyped_storage().nbytes() > SMALL:
            with torch.inference_mode(False):
                numbers = numbers.detach().to(torch.float64, copy=True)
        self._young.append((numbers.reshape(-1), numbers._version, use))
        if len(self._young) >= TOGETHER:
            self._send()

    def _send(self) -> None:
        """One copy for many numbers."""
        young = [(numbers, use) for numbers, version, use in self._young if numbers._version == version]
        self._polls = 0
        for device in dict.fromkeys(numbers.device for numbers, _ in young):
            mine = [(numbers, use) for numbers, use in young if numbers.device == device]
            with torch.cuda.device(device):
                joined = torch.cat([numbers for numbers, _ in mine]).double()
                host = torch.empty(joined.shape, dtype=joined.dtype, pin_memory=True)
                host.copy_(joined, non_blocking=True)
                arrived = torch.cuda.Event()
                arrived.record()
            self._waiting.append((host, arrived, _shared([(numbers.numel(), use) for numbers, use in mine])))
        self._young = []

    def poll(self) -> None:
        """Hand out what has arrived, in order, without waiting."""
        self._polls += 1
        if self._young and self._polls >= POLLS:
            self._send()
        while self._waiting and (event := self._waiting[0][1]) is not None and event.query():
            self._take()

    def finish(self) -> None:
        """Wait for the rest: the run is over."""
        try:
            self._send()
        except RuntimeError:  # the device has failed: tell what is known without the numbers
            for numbers, _, use in self._young:
                with suppress(ValueError, OverflowError):
                    use([float("nan")] * numbers.numel())
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
        use(numbers.reshape(-1).tolist())


def _shared(uses: list[tuple[int, Use]]) -> Use:
    """Hand each its part of the numbers."""

    def use_all(numbers: list[float]) -> None:
        first = 0
        for count, use in uses:
            use(numbers[first : first + count])
            first += count

    return use_all
