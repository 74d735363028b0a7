"""Modules that were built before anybody watched: the line that must have built each, told from the source."""

from __future__ import annotations

import ast
from types import FrameType

from torch import nn

from paramedic import cells
from paramedic.capture.code.storing import assigned_at
from paramedic.capture.code.trees import definition
from paramedic.program.where import frame_site, is_users, locals_of, shown_path, user_frame
from paramedic.record.writer import NOWHERE, Site

ANYWHERE = 1 << 30  # a line below all others


class WrittenBefore:
    """Answers for all modules of a process; a part lies where its owner's constructor assigns it, or with its owner."""

    def __init__(self, modules: list[nn.Module]) -> None:
        self._owners = {
            id(part): (module, name) for module in modules for name, part in module._modules.items() if part is not None
        }
        self._known: dict[int, Site] = {}
        self._frame = user_frame()

    def site(self, module: nn.Module) -> Site:
        known = self._known.get(id(module))
        if known is None:
            self._known[id(module)] = NOWHERE  # modules may hold each other in a circle
            known = self._known[id(module)] = self._part(module) or self._variable(module) or self._here()
        return known

    def _here(self) -> Site:
        return frame_site(self._frame) if self._frame is not None else NOWHERE

    def _part(self, module: nn.Module) -> Site | None:
        owner, name = self._owners.get(id(module), (None, ""))
        if owner is None:
            return None
        code = getattr(type(owner).__init__, "__code__", None)
        if code is not None and is_users(code.co_filename) and (function := definition(code)) is not None:
            lines = [node.lineno for node in ast.walk(function) if isinstance(node, ast.stmt) and _assigns(node, name)]
            if lines:
                return Site(shown_path(code.co_filename), lines[-1], code.co_name)
        return self.site(owner)

    def _variable(self, module: nn.Module) -> Site | None:
        frame = self._frame
        while frame is not None:
            if is_users(frame.f_code.co_filename) and (site := _assigned(frame, module)) is not None:
                return site
            frame = frame.f_back
        return None


def _assigned(frame: FrameType, module: nn.Module) -> Site | None:
    """Where the code around a frame assigns the variable that holds this module."""
    here, function = frame.f_code.co_filename, frame.f_code.co_name
    for names, place, before in ((locals_of(frame), function, frame.f_lineno), (frame.f_globals, "<module>", ANYWHERE)):
        name = next((name for name, value in list(names.items()) if value is module and not name.startswith("_")), None)
        if name is None:
            continue
        for file in (here, *cells.files()):
            line = assigned_at(file, place, name, before if file == here else ANYWHERE)
            if line is not None:
                return Site(shown_path(file), line, place)
    return None


def _assigns(node: ast.AST, name: str) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else []
    return any(isinstance(target, ast.Attribute) and target.attr == name for target in targets)
