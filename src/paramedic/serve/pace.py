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
    """When the next look is due."""

    def __init__(self) -> None:
        self._due = 0.0

    @property
    def is_due(self) -> bool:
        return time.monotonic() >= self._due

    def timed(self, look: Callable[[], _T]) -> _T:
        started = time.monotonic()
        try:
            return look()
        finally:
            now = time.monotonic()
            self._due = now + max(PAUSE, IDLE * (now - started))
