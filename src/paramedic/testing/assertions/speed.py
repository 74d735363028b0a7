"""`assert_speed`: how long something takes, as a ratio to something else on the same machine."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import torch

from paramedic.testing.failure import Cause, CheckFailed


def assert_speed(
    function: Callable[[], object], reference: Callable[[], object], *, at_most: float = 1.2, repeats: int = 20
) -> None:
    """`function()` takes at most so many times as long as `reference()`.

    Both run in turns, and the median of the ratios counts, so that a busy machine slows both down alike. Seconds would
    not survive a change of machines.
    """
    __tracebackhide__ = True
    for _ in range(2):
        function(), reference()
    pairs = [(_seconds(function), _seconds(reference)) for _ in range(repeats)]
    ratio = statistics.median(mine / max(other, 1e-9) for mine, other in pairs)
    if ratio > at_most:
        mine, other = (statistics.median(column) for column in zip(*pairs, strict=True))
        cause = Cause(
            what=f"{mine * 1e3:.3g} ms against {other * 1e3:.3g} ms, medians of {repeats}",
            remedy="paramedic run --trace 3 train.py writes a profile",
        )
        raise CheckFailed(
            "assert_speed", f"{ratio:.2f} times as long as the reference, allowed are {at_most:g}", [cause]
        )


def _seconds(function: Callable[[], object]) -> float:
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()
    start = time.perf_counter()
    function()
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()
    return time.perf_counter() - start
