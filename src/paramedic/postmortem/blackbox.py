"""A few numbers and words in a memory-mapped file: they survive any death of the process that wrote them."""

from __future__ import annotations

import contextlib
import mmap
import os
import struct
from pathlib import Path
from typing import NamedTuple

from paramedic import descriptors
from paramedic.paths import open_private

_NUMBERS = struct.Struct("<q??")  # step, ended, takes SIGUSR1
_WORDS = 500  # bytes for each of module and batch
_SIZE = _NUMBERS.size + 2 * _WORDS


class State(NamedTuple):
    """What the box said last."""

    step: int
    ended: bool  # the process was finishing by itself
    takes_signal: bool  # SIGUSR1 makes it write its stacks
    module: str
    batch: str


class BlackBox:
    """Written by the training process, a microsecond per step; read by its attendant."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with open_private(path, "wb") as stream:
            stream.truncate(_SIZE)
        with open_private(path, "r+b") as stream:
            self._memory = mmap.mmap(stream.fileno(), _SIZE)
        descriptors.keep_open(path)
        self._step = 0
        self._ended = False
        self.takes_signal = False
        self._batch: list[tuple[str, tuple[int, ...], str]] = []
        self._write()

    def stepped(self, step: int) -> None:
        self._step = step
        _NUMBERS.pack_into(self._memory, 0, step, self._ended, self.takes_signal)

    def batch(self, shapes: list[tuple[str, tuple[int, ...], str]]) -> None:
        if shapes != self._batch:
            self._batch = shapes
            self._words(1, ", ".join(f"{path} {shape} {dtype}".strip() for path, shape, dtype in shapes))

    def module(self, path: str) -> None:
        self._words(0, path)

    def end(self) -> None:
        self._ended = True
        self._write()
        with contextlib.suppress(OSError):
            self.path.unlink()

    def _write(self) -> None:
        _NUMBERS.pack_into(self._memory, 0, self._step, self._ended, self.takes_signal)

    def _words(self, place: int, text: str) -> None:
        start = _NUMBERS.size + place * _WORDS
        self._memory[start : start + _WORDS] = text.encode()[: _WORDS - 1].ljust(_WORDS, b"\0")


class Reader:
    """The other side; keeps its view when the file is deleted."""

    def __init__(self, path: Path) -> None:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            self._memory = mmap.mmap(descriptor, _SIZE, prot=mmap.PROT_READ)
        finally:
            os.close(descriptor)

    def state(self) -> State:
        numbers = _NUMBERS.unpack_from(self._memory, 0)
        starts = (_NUMBERS.size, _NUMBERS.size + _WORDS)
        words = [self._memory[s : s + _WORDS].rstrip(b"\0").decode(errors="replace") for s in starts]
        return State(*numbers, *words)
