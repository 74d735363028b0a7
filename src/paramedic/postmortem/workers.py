"""DataLoader workers that died: torch says at best that they did; this says where, or that memory ran out."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from paramedic.errors import message_of
from paramedic.postmortem import kernel, stacks
from paramedic.postmortem.frames import of_traceback
from paramedic.postmortem.places import crash_file, text_of
from paramedic.program.where import locals_of

_NAMED = re.compile(r"DataLoader worker \(pid(?:\(s\))? ([\d, ]+)\)")
_ADVICE = "fewer workers, a smaller batch or a lower prefetch_factor need less"
PATIENCE = 0.5  # seconds until a worker that broke its connection must be dead


def obituaries(folder: Path, errors: list[BaseException], killed_before: int) -> Iterator[tuple[str, str]]:
    """Labels and texts about the workers whose death is behind these exceptions."""
    for pid, code in _dead(errors).items():
        cause, threads = stacks.parse(text_of(crash_file(folder, pid)))
        if cause and threads:
            yield "worker", f"process {pid} died of a {cause}"
            for line in stacks.shown(threads[:1], crashed=True):
                yield "", line.strip()
        elif code in (None, -getattr(signal, "SIGKILL", 9)):
            kills = kernel.out_of_memory_kills() - killed_before
            why = "and the kernel killed a process for lack of memory during this run" if kills > 0 else "from outside"
            yield "worker", f"process {pid} was killed {why}. Unless somebody killed it, memory ran out: {_ADVICE}"
            for label, _, text in (line.strip().partition(" ") for line in kernel.memory_figures()):
                yield label, text.strip()
        else:
            name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
            yield "worker", f"process {pid} has ended with {name}"


def _dead(errors: list[BaseException]) -> dict[int, int | None]:
    """Process numbers with exit codes, from torch's messages and from the loader that was being asked."""
    named = [int(word) for e in errors for found in _NAMED.finditer(message_of(e)) for word in found[1].split(",")]
    dead: dict[int, int | None] = dict.fromkeys(named)
    for error in errors:
        workers = _workers(error)
        end = time.monotonic() + (PATIENCE if isinstance(error, (OSError, EOFError)) else 0)
        while workers and all(worker.exitcode is None for worker in workers) and time.monotonic() < end:
            time.sleep(0.02)
        dead |= {worker.pid: worker.exitcode for worker in workers if worker.exitcode}
    return dead


def _workers(error: BaseException) -> list[Any]:
    for frame, *_ in of_traceback(error.__traceback__):
        if frame.f_code.co_filename.endswith("torch/utils/data/dataloader.py"):
            workers = getattr(locals_of(frame).get("self"), "_workers", None)
            if type(workers) is list:
                return workers
    return []
