"""Put a watcher into this process: hook sources and probes into torch."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import torch

from paramedic import at_work, descriptors
from paramedic.aliases import Fields
from paramedic.capture import forks, moments
from paramedic.capture.environment import environment
from paramedic.capture.knowledge import Knowledge
from paramedic.capture.values import Values
from paramedic.capture.watcher import Watcher
from paramedic.postmortem import tracebacks
from paramedic.program.where import start_folder
from paramedic.record.facts import Fact
from paramedic.record.writer import Writer
from paramedic.settings import Settings
from paramedic.sources import lines_to_keep


class Surroundings(Protocol):
    """What an experiment has changed around the script, before anything was watched."""

    on_finish: list[Callable[[], object]]

    def summary(self) -> Fact: ...


class Attachment:
    """A watcher at work in this process."""

    def __init__(self, writer: Writer, settings: Settings, surroundings: Surroundings | None) -> None:
        self.process = os.getpid()
        self.around = 0.0  # seconds that watching took before the script began, and takes after it has ended
        self.surroundings = surroundings
        self.watcher = Watcher(writer, settings)
        self.values = Values(self.watcher)
        self.known = Knowledge(self.watcher)
        self.known.install()

    def finish(self, error: BaseException | None = None) -> None:
        """The script is over: settle what is open, put torch back, close the record."""
        watcher, began = self.watcher, time.perf_counter()
        self.known.sampler.stop()
        if self.surroundings is not None:
            watcher.ask("surroundings", self._tell_surroundings, self.surroundings)
        watcher.ask("finish", watcher.bringing.finish)
        watcher.guard.tell_each(moments.run_over)
        if error is not None:
            watcher.guard.tell_each(moments.run_failed, error)
        watcher.ask("sources", self._keep_sources)
        watcher.finish()
        self.known.crashes.finish()
        watcher.writer.set_meta(around=round(self.around + time.perf_counter() - began, 3))
        watcher.writer.close()
        if at_work.ended(self):
            tracebacks.on_uncaught.remove(self.failed)

    def failed(self, error: BaseException) -> None:
        """An exception is about to end this process, which no code of ours started; the others may end it first."""
        if isinstance(error, (KeyboardInterrupt, SystemExit)) or self.watcher.guard.closed:
            return
        self.watcher.guard.tell_each(moments.about_to_fail, error)
        if torch.distributed.is_available() and torch.distributed.is_initialized():
            self.watcher.writer.start()
            self.watcher.writer.flush()

    def _tell_surroundings(self, surroundings: Surroundings) -> None:
        for finish in surroundings.on_finish:
            finish()
        self.watcher.state(surroundings.summary())

    def _keep_sources(self) -> None:
        """The lines that findings can be about, for reports that are made where the script is not."""
        self.watcher.writer.set_meta(sources=lines_to_keep(self.watcher.writer.sites, start_folder()))


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
