"""Have the kernel refuse whatever is not computing: the calls below are allowed to this process, all others fail.

Nothing can be written but to descriptors that are open already, and files can be opened for reading only. There are no
sockets, no signals to others, no new processes. A refused call ends in a PermissionError, not in a crash.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform

_ALLOWED = {
    # name: (x86-64, ARM 64); None where the machine does not have it
    "read": (0, 63), "readv": (19, 65), "pread64": (17, 67), "preadv": (295, 69), "write": (1, 64), "writev": (20, 66),
    "pwrite64": (18, 68), "lseek": (8, 62), "close": (3, 57), "close_range": (436, 436), "dup": (32, 23),
    "dup2": (33, None), "dup3": (292, 24), "fcntl": (72, 25), "fstat": (5, 80), "stat": (4, None), "lstat": (6, None),
    "newfstatat": (262, 79), "statx": (332, 291), "statfs": (137, 43), "fstatfs": (138, 44), "access": (21, None),
    "faccessat": (269, 48), "faccessat2": (439, 439), "readlink": (89, None), "readlinkat": (267, 78),
    "getdents64": (217, 61), "getcwd": (79, 17), "poll": (7, None), "ppoll": (271, 73), "select": (23, None),
    "pselect6": (270, 72), "epoll_create1": (291, 20), "epoll_ctl": (233, 21), "epoll_wait": (232, None),
    "epoll_pwait": (281, 22), "eventfd2": (290, 19), "pipe": (22, None), "pipe2": (293, 59),
    "memfd_create": (319, 279), "ftruncate": (77, 46),
    "mmap": (9, 222), "munmap": (11, 215), "mremap": (25, 216), "mprotect": (10, 226), "madvise": (28, 233),
    "brk": (12, 214), "mincore": (27, 232), "msync": (26, 227), "membarrier": (324, 283), "get_mempolicy": (239, 236),
    "mbind": (237, 235), "set_mempolicy": (238, 237),
    "futex": (202, 98), "futex_waitv": (449, 449), "set_robust_list": (273, 99), "rseq": (334, 293),
    "set_tid_address": (218, 96), "arch_prctl": (158, None), "sched_yield": (24, 124), "sched_getaffinity": (204, 123),
    "sched_getparam": (143, 121), "sched_getscheduler": (145, 120), "sched_get_priority_max": (146, 125),
    "sched_get_priority_min": (147, 126), "getcpu": (309, 168),
    "clock_gettime": (228, 113), "clock_getres": (229, 114), "clock_nanosleep": (230, 115), "nanosleep": (35, 101),
    "gettimeofday": (96, 169), "time": (201, None), "times": (100, 153), "getrusage": (98, 165),
    "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139), "rt_sigpending": (127, 136),
    "sigaltstack": (131, 132), "restart_syscall": (219, 128), "exit": (60, 93), "exit_group": (231, 94),
    "getpid": (39, 172), "getppid": (110, 173), "gettid": (186, 178), "getuid": (102, 174), "geteuid": (107, 175),
    "getgid": (104, 176), "getegid": (108, 177), "getgroups": (115, 158), "getpgid": (121, 155),
    "getpgrp": (111, None), "getsid": (124, 156), "uname": (63, 160), "sysinfo": (99, 179), "getrandom": (318, 278),
    "getrlimit": (97, 163), "prctl": (157, 167),
}  # fmt: skip
_OPEN, _OPENAT, _CLONE, _CLONE3, _PRLIMIT = (2, None), (257, 56), (56, 220), (435, 435), (302, 261)
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}  # column above, number by which the kernel knows it
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CLONE_THREAD = 0x10000

# The language of such filters (linux/filter.h, linux/seccomp.h): load a word, compare, return a decision.
_LOAD, _IF_EQUAL, _IF_BITS, _RETURN = 0x20, 0x15, 0x45, 0x06
_NUMBER, _MACHINE = 0, 4  # where the call's number and the machine's lie
_ALLOW, _KILL, _FAIL = 0x7FFF0000, 0x80000000, 0x00050000
_PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _FILTER = 22, 38, 2


class _Instruction(ctypes.Structure):
    _fields_ = (("code", ctypes.c_ushort), ("yes", ctypes.c_ubyte), ("no", ctypes.c_ubyte), ("value", ctypes.c_uint))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("first", ctypes.POINTER(_Instruction)))


def is_known() -> bool:
    """Whether this machine's calls are in the table."""
    return platform.system() == "Linux" and platform.machine() in _MACHINES


def allow_computing_only() -> None:
    """For this process, from here on and for good. Raises OSError where the kernel does not offer it."""
    steps = [_Instruction(*step) for step in _filter(*_MACHINES[platform.machine()])]
    array = (_Instruction * len(steps))(*steps)
    program = _Program(len(steps), array)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(
        _PR_SET_SECCOMP, _FILTER, ctypes.byref(program), 0, 0
    ):
        raise OSError(ctypes.get_errno(), "the kernel takes no filter")


def _filter(column: int, machine: int) -> list[tuple[int, int, int, int]]:
    allow, refuse = (_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _FAIL | errno.EPERM)
    steps = [(_LOAD, 0, 0, _MACHINE), (_IF_EQUAL, 1, 0, machine), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, _NUMBER)]

    def when(call: tuple[int | None, int | None], *then: tuple[int, int, int, int]) -> None:
        number = call[column]
        if number is not None:
            steps.extend([(_IF_EQUAL, 0, len(then), number), *then])

    for call in _ALLOWED.values():
        when(call, allow)
    when(_OPEN, _argument(1), (_IF_BITS, 0, 1, _WRITING), refuse, allow)
    when(_OPENAT, _argument(2), (_IF_BITS, 0, 1, _WRITING), refuse, allow)
    when(_CLONE, _argument(0), (_IF_BITS, 0, 1, _CLONE_THREAD), allow, refuse)
    when(_CLONE3, (_RETURN, 0, 0, _FAIL | errno.ENOSYS))  # its flags lie in memory; callers then take clone
    when(_PRLIMIT, _argument(0), (_IF_EQUAL, 0, 1, 0), allow, refuse)  # of this process
    return [*steps, refuse]


def _argument(index: int) -> tuple[int, int, int, int]:
    return (_LOAD, 0, 0, 16 + 8 * index)
