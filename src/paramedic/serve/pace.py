"""How often to look.

Looking costs time, and the training that is looked at may need it: the next look waits for ten times as long as the
last one took.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

PAUSE = 1.0  # seconds between two looks, at the least
IDLE = 10.0  # times the duration of a look

_T = TypeVar("_T")


class Pace:
    """When the next look is due, and what was seen by the last one."""

    def __init__(self) -> None:
        self._due = 0.0
        self.seen: object = None

    @property
    def is_due(self) -> bool:
        return time.monotonic() >= self._due

    def wants(self, now: object) -> bool:
        """Whether there is something new, and it is time to look at it."""
        return self.is_due and now != self.seen

    def timed(self, now: object, look: Callable[[], _T]) -> _T:
        started, self.seen = time.monotonic(), now
        try:
            return look()
        finally:
            ended = time.monotonic()
            self._due = ended + max(PAUSE, IDLE * (ended - started))
