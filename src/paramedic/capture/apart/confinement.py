"""What a forked process gives up before it runs anything of the user's: all that connects it to the world."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import resource
import signal
import sys

from paramedic.capture.apart.kernel import allow_computing_only

MOST_SHARED = 1 << 30  # bytes of memory shared with other processes that are worth a copy


def confine(kept: int, seconds: float) -> None:
    """Leave this process nothing but its memory, and one descriptor to answer through."""
    os.setsid()  # signals to the group, such as Ctrl-C, are the parent's
    for number in signal.valid_signals():
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds)  # should the parent die first
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _lose_descriptors(kept)
    _unshare_memory()
    # New streams: another thread may have held the locks of the old ones.
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(n, "r" if n == 0 else "w", closefd=False) for n in range(3))
    sys.dont_write_bytecode = True
    gc.disable()
    allow_computing_only()


def _lose_descriptors(kept: int) -> None:
    """Files, pipes and sockets share their position with the parent's: writing or reading would be noticed."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in {0, 1, 2, *map(int, os.listdir("/proc/self/fd"))} - {kept, nowhere}:
        os.dup2(nowhere, number, inheritable=False)


def _unshare_memory() -> None:
    """Give this process copies of the memory that it shares with others: tensors, mapped files, locks, queues."""
    with open("/proc/self/maps") as file:
        lines = [line.split(maxsplit=2) for line in file]
    places = [place.split("-") for place, access, _ in lines if access[1] == "w" and access[3] == "s"]
    spans = [(int(start, 16), int(end, 16) - int(start, 16)) for start, end in places]
    if sum(size for _, size in spans) > MOST_SHARED:
        raise MemoryError("too much shared memory")
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = libc.mremap.restype = ctypes.c_void_p
    libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long)
    libc.mremap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p)
    for start, size in spans:
        copy = libc.mmap(None, size, 3, 0x22, -1, 0)  # readable and writable; private and anonymous
        if copy == ctypes.c_void_p(-1).value:
            raise MemoryError
        ctypes.memmove(copy, start, size)
        if libc.mremap(copy, size, size, 3, start) != start:  # moved to where the shared memory was
            raise OSError(ctypes.get_errno(), "memory could not be moved")
