"""Would anybody notice that this process is forked? Then it is not."""

from __future__ import annotations

import functools
import linecache
import os
import re
import signal
import sys
import threading
from types import FunctionType, ModuleType

import torch
from torch.utils.data._utils import signal_handling

from paramedic.capture.apart import kernel
from paramedic.program.fork_handlers import foreign_handler
from paramedic.program.where import is_users

MOST_MEMORY = 4 << 30  # bytes of this process: after a fork the first write to each page costs
_WAITS = re.compile(r"\bos\.wait3?\(|\bos\.wait(pid|4)\(\s*(-1|0)\b|\bP_ALL\b|\bfrom os import .*\bwait")


def hindrance(*, hosted: bool = False) -> str | None:
    """Why nothing can be asked in a process of its own, if that is so; `hosted` questions need no accelerator."""
    if not hasattr(os, "fork") or not kernel.is_known():
        return "on this system no process can be confined to computing"
    if torch.cuda.is_initialized() and not hosted:
        return "an accelerator is in use, and a forked process cannot use it"
    if not _only_torchs(signal.getsignal(signal.SIGCHLD)):
        return "the program handles SIGCHLD, and would notice another process"
    handler = foreign_handler()
    if handler is not None:
        return f"{handler} reacts when the process is forked"
    if threading.active_count() > 1 and any(map(_waits_for_any, _users_files(len(sys.modules)))):
        return "the program waits for any child process, and would notice another one"
    if _memory() > MOST_MEMORY:
        return "the process is too large to be forked"
    return None


def _only_torchs(handler: object) -> bool:
    """Whether no code but torch's is told when a child ends.

    The handler of a DataLoader with workers only checks whether one of them died, then calls the one it replaced.
    """
    if handler in (signal.SIG_DFL, signal.SIG_IGN):
        return True
    if not isinstance(handler, FunctionType) or handler.__module__ != signal_handling.__name__:
        return False
    replaced = dict(zip(handler.__code__.co_freevars, handler.__closure__ or (), strict=True)).get("previous_handler")
    return replaced is not None and replaced.cell_contents is None


@functools.lru_cache(maxsize=1)
def _users_files(modules: int) -> list[str]:
    """Of the modules there are; looked through again once there are more."""
    files = {vars(module).get("__file__") for module in list(sys.modules.values()) if isinstance(module, ModuleType)}
    return [file for file in files if isinstance(file, str) and is_users(file)]


@functools.cache
def _waits_for_any(file: str) -> bool:
    return _WAITS.search("".join(linecache.getlines(file))) is not None


def _memory() -> int:
    """Of this process alone; what it shares, libraries above all, costs nothing."""
    with open("/proc/self/statm") as file:
        _, resident, shared, *_ = map(int, file.read().split())
    return (resident - shared) * os.sysconf("SC_PAGE_SIZE")
