"""Put a watcher into this process: hook sources and probes into torch."""

from __future__ import annotations

import functools
import os
import time
from pathlib import Path

from paramedic import at_work, descriptors
from paramedic.aliases import Fields
from paramedic.capture import forks
from paramedic.capture.endings import Surroundings, about_to_fail, tell_all
from paramedic.capture.environment import environment
from paramedic.capture.knowledge import Knowledge
from paramedic.capture.values import Values
from paramedic.capture.watcher import Watcher
from paramedic.postmortem import tracebacks
from paramedic.record.writer import Writer
from paramedic.settings import Settings


class Attachment:
    """A watcher at work in this process."""

    def __init__(self, writer: Writer, settings: Settings, surroundings: Surroundings | None) -> None:
        self.process = os.getpid()
        self.around = 0.0  # seconds that watching took before the script began, and takes after it has ended
        self.surroundings = surroundings
        self.watcher = Watcher(writer, settings)
        self.failed = functools.partial(about_to_fail, self.watcher)
        self.values = Values(self.watcher)
        self.known = Knowledge(self.watcher)
        self.known.install()

    def finish(self, error: BaseException | None = None) -> None:
        """The script is over: settle what is open, put torch back, close the record."""
        watcher, began = self.watcher, time.perf_counter()
        self.known.sampler.stop()
        tell_all(watcher, self.surroundings, error)
        watcher.finish()
        self.known.crashes.finish()
        watcher.writer.set_meta(around=round(self.around + time.perf_counter() - began, 3))
        watcher.writer.close()
        if at_work.ended(self):
            tracebacks.on_uncaught.remove(self.failed)


def attach(
    folder: Path,
    *,
    name: str,
    meta: Fields,
    settings: Settings,
    eager: bool = True,
    surroundings: Surroundings | None = None,
) -> Attachment:
    """Begin to watch this process. With `eager` false the record is only created once an optimizer steps."""
    descriptors.spare()
    writer = Writer(folder / f"{name}.db", meta=meta | environment())
    attachment = Attachment(writer, settings, surroundings)
    at_work.began(attachment)
    tracebacks.on_uncaught.append(attachment.failed)
    if eager:
        writer.start()
    if eager or "RANK" in os.environ:
        attachment.known.crashes.install()
    forks.follow(attachment, folder, meta)
    return attachment
