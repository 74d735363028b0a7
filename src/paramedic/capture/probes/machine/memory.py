"""Memory over time: of this process, of its DataLoader workers and other children, and of the devices.

Processes are polled by a thread of their own. A device is asked after a step, when activations have been freed.
"""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress

import psutil
import torch

from paramedic import descriptors
from paramedic.capture import moments
from paramedic.capture.apart.process import at_work
from paramedic.capture.bus import on
from paramedic.capture.failures import raised_at
from paramedic.capture.host import footprint, limit, peak, proportional
from paramedic.capture.probe import probe
from paramedic.capture.probes.machine.exhaustion import is_exhaustion, tell_exhaustion
from paramedic.capture.watcher import Watcher
from paramedic.record import facts
from paramedic.record.facts import DeviceMemory, MemoryPeak, OutOfMemory, ProbeFailed, Process

OFTEN, RARELY = 0.025, 1.0  # seconds between two polls, at least and at most
POLLS = 100  # a poll each time that the run has become longer by this part: short runs need points too
DEVICE_EVERY = 0.1  # seconds
CHILDREN_EVERY = 5.0  # seconds; the kernel's whole list of processes is read for it
DEAR = 200  # PSS and USS are read so rarely that reading takes less than one part in this many
MOST_CHILDREN = 8
MOST_PROCESSES = 100  # told of: workers are born anew each epoch
SMALL = 30 << 20  # children below this are not worth a line


@probe("memory", states=[DeviceMemory, facts.Memory, MemoryPeak, OutOfMemory, Process])
class Memory:
    """Writes series named memory:<what>:<process or device>, in bytes."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.base = (0, 0)  # bytes resident and mapped before the script built anything
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._owner = 0  # the process that the thread runs in
        self._processes: dict[int, psutil.Process] = {}
        self._children: dict[int, str] = {}
        self._told: set[int] = set()
        self._next_children = self._next_dear = self._next_device = 0.0

    def install(self) -> None:
        now = psutil.Process().memory_info()
        self.base = (now.rss, now.vms)
        self.watcher.patches.on_undo(self._stop_thread)

    @on(moments.step_taken, moments.steps_matched)
    def _after_step(self) -> None:
        if self._owner != os.getpid():
            self._start()
        now = time.monotonic()
        if torch.cuda.is_initialized() and now >= self._next_device:
            self._next_device = now + DEVICE_EVERY
            self._ask_devices()

    @on(moments.run_failed)
    def _failed(self, error: BaseException) -> None:
        if is_exhaustion(error):
            known = self.watcher.known
            tell_exhaustion(
                self.watcher,
                list(known.loop.books.births),
                known.calls.outputs.maker,
                self.base,
                error,
                raised_at(error),
            )

    @on(moments.run_over)
    def finish(self) -> None:
        """How high it ever was; what is left now that the script is over says nothing."""
        if self._owner == os.getpid() and self._thread is not None:
            self._stop_thread()
            self.watcher.state(MemoryPeak(rss=peak()), phase="train")

    # The thread -------------------------------------------------------------------------------------------------

    def _start(self) -> None:
        """At the first step, and once more in a forked child, to which threads are lost."""
        self._owner, self._stop = os.getpid(), threading.Event()
        self._processes, self._children, self._told = {}, {}, set()
        most = limit()
        data = facts.Memory(limit=most.bytes, used=most.used, source=most.source, pid=self._owner)
        self.watcher.state(data, phase="train")
        self._thread = threading.Thread(target=self._run, args=(self._stop,), name="paramedic-memory", daemon=True)
        self._thread.start()

    def _stop_thread(self) -> None:
        self._stop.set()
        if self._thread is not None and self._owner == os.getpid():
            self._thread.join(timeout=1)

    def _run(self, stop: threading.Event) -> None:
        started = time.monotonic()
        self._next_children = started + 1
        self._next_dear = started + 2
        while True:
            now = time.monotonic()
            try:
                with descriptors.undisturbed():
                    self._poll(now, dear=now >= self._next_dear)
            except Exception as error:  # a thread has nobody to tell; the record has
                with suppress(Exception):
                    data = ProbeFailed(probe="memory", error=f"{type(error).__name__}: {error}")
                    self.watcher.state(data, phase="train")
                return
            if stop.wait(min(RARELY, max(OFTEN, (now - started) / POLLS))):
                return

    def _poll(self, now: float, *, dear: bool) -> None:
        processes = {self._owner: "main", **self.watcher.known.loaders.known.workers()}
        if now >= self._next_children:
            self._next_children = now + CHILDREN_EVERY
            self._find_children(set(processes))
            most = limit()
            self._point("used", most.source, most.used)
        processes |= {pid: name for pid, name in self._children.items() if pid not in processes}
        for pid, name in processes.items():
            with suppress(psutil.Error):
                process = self._processes.get(pid) or psutil.Process(pid)  # which takes longer than the look
                self._processes[pid] = process
                rss, private = footprint(process)
                if not rss:
                    continue  # it has ended, and waits to be noticed
                self._tell_process(pid, name)
                self._point("rss", name, rss)
                self._point("private", name, private)
                if dear:
                    self._ask_dear(process, name)
        self._processes = {pid: process for pid, process in self._processes.items() if pid in processes}

    def _ask_dear(self, process: psutil.Process, name: str) -> None:
        started = time.monotonic()
        found = proportional(process)
        if found is not None:
            self._point("pss", name, found[0])
            self._point("uss", name, found[1])
        took = time.monotonic() - started
        self._next_dear = max(self._next_dear, time.monotonic() + max(2.0, DEAR * took))

    def _find_children(self, known: set[int]) -> None:
        with suppress(psutil.Error):
            children = {child.pid: child for child in psutil.Process(self._owner).children(recursive=True)}
            kept = {pid: name for pid, name in self._children.items() if pid in children}
            for pid, child in children.items():
                if pid not in known | kept.keys() | at_work and len(kept) < MOST_CHILDREN:
                    with suppress(psutil.Error):
                        if footprint(child).rss >= SMALL:
                            kept[pid] = f"child {pid} ({child.name()})"
            self._children = kept

    def _tell_process(self, pid: int, name: str) -> None:
        if pid not in self._told and len(self._told) < MOST_PROCESSES:
            self._told.add(pid)
            self.watcher.state(Process(pid=pid, name=name), phase="train")

    def _point(self, what: str, process: str, value: int) -> None:
        self.watcher.writer.point(f"memory:{what}:{process}", self.watcher.step, value)

    # Devices ----------------------------------------------------------------------------------------------------

    def _ask_devices(self) -> None:
        """What the allocator counts anyway; the peak is since the script's own last reset, which stays its own."""
        for index in range(torch.cuda.device_count()):
            found = torch.cuda.memory_stats(index)
            if found.get("reserved_bytes.all.peak"):
                name = f"cuda:{index}"
                self._point("allocated", name, found["allocated_bytes.all.current"])
                self._point("peak", name, found["allocated_bytes.all.peak"])
                self._point("reserved", name, found["reserved_bytes.all.current"])
                total = torch.cuda.get_device_properties(index).total_memory
                retries = found.get("num_alloc_retries", 0)
                data = DeviceMemory(name=name, total=total)
                self.watcher.state(data, phase="train", key=name)
                if retries:
                    self._point("retries", name, retries)
