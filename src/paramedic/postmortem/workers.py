"""DataLoader workers that died: torch says that they did; this says where, or that memory ran out."""

from __future__ import annotations

import re
from pathlib import Path

from paramedic.postmortem import kernel, stacks
from paramedic.postmortem.places import crash_file, text_of

_DEAD = re.compile(r"DataLoader worker \(pid(?:\(s\))? ([\d, ]+)\)")


def obituaries(folder: Path, messages: list[str], killed_before: int) -> list[tuple[str, str]]:
    """Labels and texts about the workers that these error messages name."""
    found: list[tuple[str, str]] = []
    for message in messages:
        for pid in [int(word) for match in _DEAD.finditer(message) for word in match[1].split(",")]:
            cause, threads = stacks.parse(text_of(crash_file(folder, pid)))
            if cause and threads:
                found += [("worker", f"process {pid} died of a {cause}")]
                found += [("", line.strip()) for line in stacks.shown(threads[:1], crashed=True)]
            elif "Killed" in message or "exited unexpectedly" in message:
                found += [("worker", _killed(pid, kernel.out_of_memory_kills() - killed_before))]
                found += [tuple(line.split(maxsplit=1)) for line in kernel.memory_figures()]  # type: ignore[misc]
    return found


def _killed(pid: int, kills: int) -> str:
    advice = "fewer workers, a smaller batch or a lower prefetch_factor need less"
    if kills > 0:
        return f"process {pid} was killed, and the kernel did kill for want of memory during this run: {advice}"
    return f"process {pid} was killed from outside. If nobody did it, memory ran out: {advice}"
