"""Watch the assignments of the user's forward() functions while they run: which names get which shapes."""

from __future__ import annotations

import ast
import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import torch

from paramedic.program.where import is_users
from paramedic.shapes.symbols import Seen

Wanted = Callable[[CodeType], bool]


def is_forward(code: CodeType) -> bool:
    return code.co_name == "forward" and is_users(code.co_filename)


@contextlib.contextmanager
def traced(seen: Seen, wanted: Wanted = is_forward) -> Iterator[None]:
    """Fills `seen` with the shapes of (file, line, name) in the order of execution."""
    before = sys.gettrace()
    tracer = _Tracer(seen, wanted)
    sys.settrace(tracer.entered)
    try:
        yield
    finally:
        sys.settrace(before)


class _Tracer:
    def __init__(self, seen: Seen, wanted: Wanted) -> None:
        self.seen, self.wanted = seen, wanted
        self._files: dict[str, dict[int, tuple[int, tuple[str, ...]]]] = {}
        self._last: dict[int, int] = {}  # by frame: the line that is being executed

    def entered(self, frame: FrameType, event: str, value: object) -> Any:
        if event != "call" or not self.wanted(frame.f_code):
            return None
        self._last.pop(id(frame), None)
        return self._stepped

    def _stepped(self, frame: FrameType, event: str, value: object) -> Any:
        lines = self._lines(frame.f_code.co_filename)
        before = self._last.get(id(frame))
        done = lines.get(before) if before is not None else None
        here = lines.get(frame.f_lineno) if event == "line" else None
        # A statement of several lines is over when a line outside of it begins.
        if done is not None and event in ("line", "return") and (here is None or here[0] != done[0]):
            self._note(frame, *done)
        if event == "line":
            self._last[id(frame)] = frame.f_lineno
        elif event == "return":
            self._last.pop(id(frame), None)
        return self._stepped

    def _note(self, frame: FrameType, line: int, names: tuple[str, ...]) -> None:
        file = frame.f_code.co_filename
        for name in names:
            found = frame.f_locals.get(name)
            if isinstance(found, torch.Tensor):
                self.seen.setdefault((file, line, name), []).append(tuple(found.shape))

    def _lines(self, file: str) -> dict[int, tuple[int, tuple[str, ...]]]:
        if file not in self._files:
            self._files[file] = assignments(Path(file).read_text(encoding="utf-8"))
        return self._files[file]


def assignments(source: str) -> dict[int, tuple[int, tuple[str, ...]]]:
    """Every line of a simple assignment: the line on which it begins, and the names it binds."""
    found: dict[int, tuple[int, tuple[str, ...]]] = {}
    for node in ast.walk(ast.parse(source)):
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign)):
            targets = [node.target]
        names = tuple(n.id for target in targets for n in _plain(target))
        if names and isinstance(node, ast.stmt):
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                found[line] = (node.lineno, names)
    return found


def _plain(target: ast.expr) -> list[ast.Name]:
    if isinstance(target, ast.Name):
        return [target]
    parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
    return [part for part in parts if isinstance(part, ast.Name)]
