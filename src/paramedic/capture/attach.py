"""Put a watcher into this process: hook sources and probes into torch."""

from __future__ import annotations

import multiprocessing.util
import os
import platform
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import torch

from paramedic import descriptors
from paramedic.capture import moments
from paramedic.capture.apart.process import within_fork
from paramedic.capture.bus import functions_heard
from paramedic.capture.knowledge import Knowledge
from paramedic.capture.probe import all_probes
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
        self.watcher = watcher = Watcher(writer, settings)
        self.values = Values(watcher)
        self.known = known = Knowledge(watcher)
        probes = [(kind.name, kind.build(watcher)) for kind in all_probes()]
        known.install()
        for name, probe in probes:
            watcher.bus.connect(name, probe)
            for functions, handler in functions_heard(probe):
                known.ops.handle(functions, handler, name)
            if hasattr(probe, "install"):
                probe.install()

    def finish(self, error: BaseException | None = None) -> None:
        """The script is over: settle what is open, put torch back, close the record."""
        watcher, began = self.watcher, time.perf_counter()
        self.known.sampler.stop()
        if self.surroundings is not None:
            watcher.ask("surroundings", self._tell_surroundings)
        watcher.tell_each(moments.run_over)
        if error is not None:
            watcher.tell_each(moments.run_failed, error)
        watcher.ask("sources", self._keep_sources)
        watcher.finish()
        self.known.crashes.finish()
        watcher.writer.set_meta(around=round(self.around + time.perf_counter() - began, 3))
        watcher.writer.close()
        if self in _current:
            _current.remove(self)
            tracebacks.on_uncaught.remove(self.failed)

    def failed(self, error: BaseException) -> None:
        """An exception is about to end this process, which no code of ours started; the others may end it first."""
        if isinstance(error, (KeyboardInterrupt, SystemExit)) or self.watcher.closed:
            return
        self.watcher.tell_each(moments.about_to_fail, error)
        if torch.distributed.is_available() and torch.distributed.is_initialized():
            self.watcher.writer.start()
            self.watcher.writer.flush()

    def _tell_surroundings(self) -> None:
        assert self.surroundings is not None
        for finish in self.surroundings.on_finish:
            finish()
        self.watcher.state(self.surroundings.summary())

    def _keep_sources(self) -> None:
        """The lines that findings can be about, for reports that are made where the script is not."""
        self.watcher.writer.set_meta(sources=lines_to_keep(self.watcher.writer.sites, start_folder()))


_current: list[Attachment] = []


def current() -> Attachment | None:
    """The watcher at work in this process, if there is one."""
    return _current[0] if _current else None


def attach(
    folder: Path,
    *,
    name: str,
    meta: dict[str, Any],
    settings: Settings,
    eager: bool = True,
    surroundings: Surroundings | None = None,
) -> Attachment:
    """Begin to watch this process. With `eager` false the record is only created once an optimizer steps."""
    descriptors.spare()
    writer = Writer(folder / f"{name}.db", meta=meta | environment())
    attachment = Attachment(writer, settings, surroundings)
    _current.append(attachment)
    tracebacks.on_uncaught.append(attachment.failed)
    if eager:
        writer.start()
    if eager or "RANK" in os.environ:
        attachment.known.crashes.install()

    held: list[threading.Lock | None] = []

    def before() -> None:
        held.append(attachment.watcher.writer.hold())

    def after_in_parent() -> None:
        lock = held.pop()
        if lock is not None:
            lock.release()

    def after_in_child() -> None:
        held.clear()
        if not attachment.watcher.closed and not within_fork():
            _adopt_fork(attachment, folder, meta)

    if hasattr(os, "register_at_fork"):  # not on Windows, where no process is forked
        os.register_at_fork(before=before, after_in_parent=after_in_parent, after_in_child=after_in_child)
    # Children of multiprocessing leave through os._exit, which skips atexit but not this.
    multiprocessing.util.register_after_fork(
        attachment, lambda a: multiprocessing.util.Finalize(a, a.finish, exitpriority=0)
    )
    return attachment


def _adopt_fork(attachment: Attachment, folder: Path, meta: dict[str, Any]) -> None:
    """A forked child gets a record of its own, created only if it trains; a DataLoader worker never does."""
    watcher = attachment.watcher
    watcher.writer.abandon()
    attachment.known.crashes.forked()
    watcher.writer = Writer(folder / f"p{os.getpid()}.db", meta=meta | environment() | {"forked": True})
    watcher.on_count = lambda _: None  # the box to write it into is the parent's
    watcher.bus.tell(moments.forked, f"p{os.getpid()}")
    watcher.relax()


def environment() -> dict[str, Any]:
    """What a reader needs to know about the machine; never the environment's variables themselves."""
    return {
        "pid": os.getpid(),
        "rank": int(os.environ.get("RANK", 0) or 0),
        "world_size": int(os.environ.get("WORLD_SIZE", 1) or 1),
        "versions": {
            "python": platform.python_version(),
            "torch": str(torch.__version__),
            "platform": "-".join(
                (platform.system(), platform.release(), platform.machine())
            ),  # platform() starts a process
            "accelerator": torch.cuda.get_device_name(0) if torch.cuda.is_initialized() else "none",
        },
    }
