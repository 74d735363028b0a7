"""Stacks as python's faulthandler writes them, made readable: the user's lines with their source."""

from __future__ import annotations

import itertools
import linecache
import os
import re
from typing import NamedTuple

from paramedic.program.where import is_users, shown_path

MOST_FRAMES = 12  # shown per thread
_FRAME = re.compile(r'  File "(.*)", line (\d+|\?\?\?) in (.*)')
_THREAD = re.compile(r"(Current thread|Thread) 0x[0-9a-f]+.*\(most recent call first\)")
_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_MACHINERY = "torch/nn/modules/module.py"
_FATAL = re.compile(r"Fatal Python error: (.*)")


class Thread(NamedTuple):
    current: bool
    frames: list[tuple[str, int, str]]  # file, line, function; outermost first


def parse(text: str) -> tuple[str, list[Thread]]:
    """Why it died, if it did, and the threads: the one that crashed first."""
    fatal = _FATAL.search(text)
    threads: list[Thread] = []
    for line in text.splitlines():
        if found := _THREAD.match(line):
            threads.append(Thread(found[1] == "Current thread", []))
        elif (found := _FRAME.match(line)) and threads:
            number = int(found[2]) if found[2].isdigit() else 0
            threads[-1].frames.insert(0, (found[1], number, found[3]))
    return (fatal[1] if fatal else ""), sorted(threads, key=lambda thread: not thread.current)


def shown(threads: list[Thread], *, crashed: bool) -> list[str]:
    """The threads in which something of the user's runs, most recent call last."""
    lines: list[str] = []
    idle = 0
    for thread in threads:
        if not thread.current and not any(is_users(file) for file, _, _ in thread.frames):
            idle += 1
            continue
        if thread.current:
            lines.append("  the thread that crashed" if crashed else "  the main thread")
        else:
            lines.append("  another thread")
        lines += _frames(thread.frames)
    if idle:
        lines.append(f"  {idle} more thread{'s' if idle > 1 else ''} without code of yours")
    return lines


def _frames(frames: list[tuple[str, int, str]]) -> list[str]:
    frames = _telling(frames)
    folded = [(frame, len(list(same))) for frame, same in itertools.groupby(frames)]
    lines = [f"    … {len(folded) - MOST_FRAMES} frames above"] if len(folded) > MOST_FRAMES else []
    for (file, number, function), times in folded[-MOST_FRAMES:]:
        again = f"  (at least {times} times)" if times > 1 else ""
        lines.append(f"    {_short(file)}:{number} in {function}{again}")
        if is_users(file):
            source = linecache.getline(file, number).strip()
            lines += [f"      {source[:72]}"] if source else []
    return lines


def _telling(frames: list[tuple[str, int, str]]) -> list[tuple[str, int, str]]:
    """From the user's first frame on, without ours and without torch's machinery around each module call."""
    first = next((i for i, (file, _, _) in enumerate(frames) if is_users(file)), 0)
    return [
        frame for frame in frames[first:]
        if not frame[0].startswith(_OURS) and not (frame[0].endswith(_MACHINERY) and frame[2] != "forward")
    ]  # fmt: skip


def _short(file: str) -> str:
    return shown_path(file) if is_users(file) else re.sub(r".*/(?:site-packages|lib/python[\d.]+)/", "", file)
