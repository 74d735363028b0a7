"""Memory as the operating system sees it: of processes, and the limit that this one lives under."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import psutil

UNLIMITED = 1 << 60  # version 1 of cgroups writes a huge number instead of "no limit"
_GROUPS = Path("/proc/self/cgroup")
_MOUNT = Path("/sys/fs/cgroup")


class Footprint(NamedTuple):
    """Bytes of one process."""

    rss: int  # resident
    private: int  # resident, less files and shared memory: what a leak makes grow


class Limit(NamedTuple):
    """What this process and its neighbours may use, and do."""

    bytes: int
    used: int
    source: str  # "cgroup" or "machine"


def footprint(process: psutil.Process) -> Footprint:
    """Cheap, unlike PSS and USS. Raises psutil.Error when the process has gone."""
    memory = process.memory_info()
    return Footprint(memory.rss, memory.rss - getattr(memory, "shared", 0))


def proportional(process: psutil.Process) -> tuple[int, int] | None:
    """PSS and USS. Takes milliseconds, for the kernel walks through all pages."""
    try:
        memory = process.memory_full_info()
    except psutil.Error:
        return None
    return getattr(memory, "pss", memory.uss), memory.uss


def limit() -> Limit:
    """The cgroup's limit where there is one below the machine's memory, otherwise the machine's."""
    machine = psutil.virtual_memory()
    for folder, names in _cgroup_folders():
        most, used = (_number(folder / name) for name in names)
        if most is not None and used is not None and most < min(machine.total, UNLIMITED):
            return Limit(most, _in_use(folder, used), "cgroup")
    return Limit(machine.total, machine.total - machine.available, "machine")


def _cgroup_folders() -> list[tuple[Path, tuple[str, str]]]:
    try:
        lines = _GROUPS.read_text().splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        number, controllers, path = line.split(":", 2)
        if number == "0":
            places, names = [_MOUNT / path.lstrip("/"), _MOUNT], ("memory.max", "memory.current")
        elif "memory" in controllers.split(","):
            places = [_MOUNT / "memory" / path.lstrip("/"), _MOUNT / "memory"]
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes")
        else:
            continue
        # Inside a container the path is that of the host, and the container's own group is the mount itself.
        found += [(place, names) for place in places]
    return found


def _number(file: Path) -> int | None:
    try:
        return int(file.read_text())
    except (OSError, ValueError):  # "max" means no limit
        return None


def _in_use(folder: Path, used: int) -> int:
    """Without the files that the kernel has cached: it gives those up before it kills anybody."""
    try:
        pairs = (line.split() for line in (folder / "memory.stat").read_text().splitlines())
        found = {name: int(value) for name, value in pairs}
    except (OSError, ValueError):
        return used
    if "anon" in found:
        return found["anon"] + found.get("shmem", 0)
    if "total_rss" in found:
        return found["total_rss"] + found.get("total_shmem", 0)
    return used


def peak() -> int | None:
    """The most that was ever resident of this process."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), None)


def address_space() -> tuple[int, int] | None:
    """The limit that `ulimit -v` puts on this process, and how much of it is used; None where there is none."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if most == resource.RLIM_INFINITY else (most, psutil.Process().memory_info().vms)
