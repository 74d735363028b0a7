"""What Linux knows: who was killed for want of memory, how much there is, who catches which signal."""

from __future__ import annotations

from pathlib import Path

import psutil

GIB = 1 << 30


def out_of_memory_kills() -> int:
    """How many processes of this container the kernel has killed so far, because memory ran out.

    Without a container the count is that of the whole machine: a kill may have hit somebody else.
    """
    for path in ("/sys/fs/cgroup/memory.events", "/proc/vmstat"):
        try:
            words = Path(path).read_text().split()
        except OSError:
            continue
        counts = dict(zip(words[::2], words[1::2], strict=False))
        if "oom_kill" in counts:
            return int(counts["oom_kill"])
    return 0


def memory_limit() -> int | None:
    """The limit that the container sets, in bytes."""
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            text = Path(path).read_text().strip()
        except OSError:
            continue
        if text.isdigit() and int(text) < 1 << 60:
            return int(text)
    return None


def memory_figures() -> list[str]:
    """How much memory there is and is free; and the shared memory through which workers hand over their batches."""
    memory = psutil.virtual_memory()
    limit = memory_limit()
    lines = [f"  memory   {memory.available / GIB:.1f} GiB free of {memory.total / GIB:.1f} GiB"]
    if limit is not None and limit < memory.total:
        lines[0] += f"; this container may use {limit / GIB:.1f} GiB"
    try:
        shared = psutil.disk_usage("/dev/shm")
        lines.append(f"  /dev/shm {shared.free / GIB:.1f} GiB free of {shared.total / GIB:.1f} GiB")
    except OSError:
        pass
    return lines


def catches(pid: int, number: int) -> bool:
    """Whether a process has a handler for this signal; without one, the signal would kill it."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return False
    caught = next((line.split()[1] for line in lines if line.startswith("SigCgt:")), "0")
    return bool(int(caught, 16) >> (number - 1) & 1)


def descendants(pid: int) -> list[int]:
    try:
        return [child.pid for child in psutil.Process(pid).children(recursive=True)]
    except psutil.Error:
        return []
