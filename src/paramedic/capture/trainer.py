"""The thread that trains: one per process is watched."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from paramedic.capture import moments
from paramedic.record.facts import Gear

if TYPE_CHECKING:
    from paramedic.capture.watcher import Watcher


class Trainer:
    """Tells the first thread that trains from others."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._marks = watcher.guard.threads
        self._thread: threading.Thread | None = None
        self._heard = threading.get_ident()  # the thread whose calls are listened to

    def elsewhere(self) -> bool:
        """Whether a training call comes from a second thread, while the one that is watched trains, too.

        Nothing can be told from the calls of two loops mixed up, so the second thread is left alone for good.
        """
        identity = threading.get_ident()
        if identity == self.watcher.trainer:
            return False
        if getattr(self._marks, "ignored", False):
            return True
        here = next((thread for thread in threading.enumerate() if thread.ident == identity), None)
        if here is None:
            return False  # one of torch's own, amid a backward pass
        if self._thread is None or not self._thread.is_alive():
            self._thread, self.watcher.trainer = here, identity
            if identity != self._heard:
                self._heard = identity
                self.watcher.bus.tell(moments.trainer_changed)
            return False
        if not self.watcher.guard.busy:
            reason = "several threads train at the same time: only the first was watched"
            self.watcher.state(Gear(reason=reason), key="threads")
        self._marks.ignored = self._marks.busy = True
        return True
