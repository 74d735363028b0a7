"""An accelerator's loss and gradients, known before the weights are changed, without keeping the accelerator waiting.

The loss is there once the forward pass is over. By then the backward pass is queued already, so the accelerator has
work to do while the host waits for that one number. Gradients are there only when the queue is empty; to wait for
them is felt, except in long steps, and where the host is slower than the accelerator anyway. In the first steps they
are waited for all the same: that is over soon.
"""

from __future__ import annotations

import time
from contextlib import suppress

import torch

LONG = 0.1  # seconds of a step in which an empty queue is not felt
FELT = 0.03  # of a step: to wait longer than this costs
CHEAP = 0.01  # of a step, that it may cost the host to send a number: of short steps only some are looked at
RETRY = 64  # steps until it is tried again
AT_FIRST = 256  # gradients that are waited for, felt or not


class Early:
    """Numbers sent to the host's memory, one at a time, with an event that tells when they have arrived."""

    def __init__(self) -> None:
        self._places: dict[tuple[torch.device, torch.dtype], tuple[torch.Tensor, torch.cuda.Event]] = {}
        self._awaited: tuple[torch.Tensor, torch.cuda.Event] | None = None
        self._looks = 0  # at gradients, so far
        self._pause = 0  # steps in which gradients are not waited for
        self.waited = 0.0  # seconds in all, in which the accelerator was at work

    def send(self, number: torch.Tensor) -> bool:
        """Whether the number, the only one in its tensor, is on its way."""
        self._awaited = None
        if number.device.type != "cuda" or type(number) is not torch.Tensor or not number.dtype.is_floating_point:
            return False
        place = self._places.get((number.device, number.dtype))
        if place is None:
            host = torch.empty(1, dtype=number.dtype, device="cpu", pin_memory=True)
            place = self._places[number.device, number.dtype] = (host, torch.cuda.Event())
        host, arrived = place
        host.copy_(number.detach().reshape(1), non_blocking=True)
        arrived.record(torch.cuda.current_stream(number.device))
        self._awaited = place
        return True

    def take(self) -> float | None:
        """The number, waited for; None if none was sent, or if the device has failed."""
        if self._awaited is None:
            return None
        (host, arrived), self._awaited = self._awaited, None
        began = time.perf_counter()
        with suppress(RuntimeError):
            arrived.synchronize()
            self.waited += time.perf_counter() - began
            return float(host)
        return None

    def size(self, gradients: list[torch.Tensor], step: float | None) -> float | None:
        """One number of the first and the last gradient, not finite if any value is not.

        None where to know it would be felt. `step` is how long one takes, in seconds, if that is known by now.
        """
        if not gradients or self.resting():
            return None
        ends = [gradient.detach() for gradient in (gradients[0], gradients[-1])]
        if ends[0].device != ends[1].device or any(gradient.layout is not torch.strided for gradient in ends):
            return None
        began = time.perf_counter()
        # Infinities of either sign could cancel into NaN, never into a finite number.
        if not self.send(ends[0].sum(dtype=torch.float32) + ends[1].sum(dtype=torch.float32)):
            return None
        sent, before, self._looks = time.perf_counter() - began, self.waited, self._looks + 1
        size = self.take()
        if step is not None and self._looks > AT_FIRST:
            felt = step < LONG and self.waited - before > FELT * step
            self._pause = RETRY if felt else min(RETRY, int(sent / (CHEAP * step)))
        return None if size is None else abs(size)

    def resting(self) -> bool:
        """Whether this is a step in which gradients are not looked at."""
        if self._pause:
            self._pause -= 1
            return True
        return False

    def look_again(self) -> None:
        """What was seen is unusual: the next look must not be left out."""
        self._pause = 0
