"""Functions that Python calls whenever the process is forked: `os.register_at_fork` takes them from anybody."""

from __future__ import annotations

import functools
import gc
import os
import sys
import threading

from paramedic.aliases import Function
from paramedic.program.where import is_users

Handlers = list[Function]
_KNOWN = ("torch", "numpy", "filelock", "paramedic")  # and Python: what they do at a fork is noticed by nobody
_UNKNOWN = "something unknown"
_MEMORY_ONLY = (type(threading.Lock()), type(threading.RLock()), functools._lru_cache_wrapper)


def _here() -> None:
    """Registered for the process that forks, so that the interpreter's lists can be found."""


def _there() -> None:
    """The same for the process that is forked."""


@functools.cache
def fork_handlers() -> tuple[list[Handlers], list[Handlers]]:
    """The interpreter's own lists, to which later registrations are added: of the process that forks, and of the fork.

    Best called early: when torch is there it takes longer, and what was frozen is hidden from the garbage collector.
    """
    if not hasattr(os, "register_at_fork"):  # Windows
        return [], []
    os.register_at_fork(before=_here, after_in_parent=_here, after_in_child=_there)
    lists = [found for found in gc.get_referrers(_here, _there) if type(found) is list]
    return [found for found in lists if _here in found], [found for found in lists if _there in found]


def foreign_handler() -> str | None:
    """The module of a function whose call might be noticed, if there is one: the user's or another package's.

    Packages may tidy up in the fork, which is what these functions are for; to the user's own that may be news.
    """
    here, there = fork_handlers()
    if len(here) != 2 or len(there) != 1:
        return _UNKNOWN
    found = (_foreign(handler, in_fork=handlers is there[0]) for handlers in [*here, *there] for handler in handlers)
    return next((name for name in found if name), None)


def _foreign(handler: Function, *, in_fork: bool) -> str | None:
    futures = sys.modules.get("concurrent.futures.thread")
    owner = getattr(handler, "__self__", None)
    if (in_fork and isinstance(owner, _MEMORY_ONLY)) or (futures and owner is futures._global_shutdown_lock):
        return None
    name = str(getattr(handler, "__module__", None) or _UNKNOWN)
    root = name.partition(".")[0]
    if root in _KNOWN or root in sys.stdlib_module_names:
        return None
    file = getattr(sys.modules.get(name), "__file__", None)
    return None if in_fork and file and not is_users(file) else name
