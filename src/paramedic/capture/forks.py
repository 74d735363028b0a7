"""When the watched process is forked: the child gets a record of its own."""

from __future__ import annotations

import multiprocessing.util
import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from paramedic.capture import moments
from paramedic.capture.apart.process import within_fork
from paramedic.capture.environment import environment
from paramedic.record.writer import Writer

if TYPE_CHECKING:
    from paramedic.capture.attach import Attachment


def follow(attachment: Attachment, folder: Path, meta: dict[str, object]) -> None:
    """Watch the children that this process forks from now on."""
    held: list[threading.Lock | None] = []

    def before() -> None:
        held.append(attachment.watcher.writer.hold())

    def after_in_parent() -> None:
        lock = held.pop()
        if lock is not None:
            lock.release()

    def after_in_child() -> None:
        held.clear()
        if not attachment.watcher.guard.closed and not within_fork():
            _adopt(attachment, folder, meta)

    if hasattr(os, "register_at_fork"):  # not on Windows, where no process is forked
        os.register_at_fork(before=before, after_in_parent=after_in_parent, after_in_child=after_in_child)
    # Children of multiprocessing leave through os._exit, which skips atexit but not this.
    multiprocessing.util.register_after_fork(
        attachment, lambda a: multiprocessing.util.Finalize(a, a.finish, exitpriority=0)
    )


def _adopt(attachment: Attachment, folder: Path, meta: dict[str, object]) -> None:
    """A forked child gets a record of its own, created only if it trains; a DataLoader worker never does."""
    watcher = attachment.watcher
    watcher.writer.abandon()
    attachment.known.crashes.forked()
    watcher.writer = Writer(folder / f"p{os.getpid()}.db", meta=meta | environment() | {"forked": True})
    watcher.gears.on_count = lambda _: None  # the box to write it into is the parent's
    watcher.bus.tell(moments.forked, f"p{os.getpid()}")
    watcher.gears.relax()
