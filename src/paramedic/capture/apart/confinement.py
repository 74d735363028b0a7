"""What a forked process gives up before it runs anything of the user's: all that connects it to the world."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import signal
import sys

from paramedic.capture.apart.kernel import allow_computing_only

_READ_AND_WRITE, _NO_ACCESS, _PRIVATE, _FIXED, _MOVE = 3, 0, 0x22, 0x10, 3  # of mmap and mremap, on Linux
MOST_SHARED = 1 << 30  # bytes of memory shared with other processes that are worth a copy


def confine(kept: int, seconds: float) -> None:
    """Leave this process nothing but its memory, and one descriptor to answer through."""
    import resource  # not on Windows, where nothing is confined

    os.setsid()  # signals to the group, such as Ctrl-C, are the parent's
    for number in signal.valid_signals():
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds)  # should the parent die first
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")  # where memory runs out, this process goes first
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
    """Give this process copies of the memory that it shares with others: tensors, mapped files, locks, queues.

    What belongs to a device is taken away: to touch it ends the process.
    """
    with open("/proc/self/maps") as file:
        lines = [[*line.split(maxsplit=5), ""] for line in file]
    shared = [(line[0].split("-"), line[5]) for line in lines if line[1][1] == "w" and line[1][3] == "s"]
    spans = [(int(start, 16), int(end, 16) - int(start, 16), _is_device(name)) for (start, end), name in shared]
    if sum(size for _, size, device in spans if not device) > MOST_SHARED:
        raise MemoryError("too much shared memory")
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = libc.mremap.restype = ctypes.c_void_p
    libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long)
    libc.mremap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p)
    for start, size, device in spans:
        if device:
            found = libc.mmap(start, size, _NO_ACCESS, _PRIVATE | _FIXED, -1, 0)
        else:
            copy = libc.mmap(None, size, _READ_AND_WRITE, _PRIVATE, -1, 0)
            if copy == ctypes.c_void_p(-1).value:
                raise MemoryError
            ctypes.memmove(copy, start, size)
            found = libc.mremap(copy, size, size, _MOVE, start)
        if found != start:
            raise OSError(ctypes.get_errno(), "memory could not be replaced")


def _is_device(name: str) -> bool:
    return name.startswith("/dev/") and not name.startswith(("/dev/shm/", "/dev/zero"))
