"""Which modules were running: read off the frames, so it works without any hook."""

from __future__ import annotations

from types import CodeType, FrameType
from typing import Any, NamedTuple

from paramedic.aliases import Fields
from paramedic.postmortem.frames import At
from paramedic.postmortem.summarize import is_module
from paramedic.program.where import is_users, locals_of, variable_name


class Running(NamedTuple):
    """A module whose code was being executed."""

    path: str  # as seen from the outermost module
    module: Any
    inputs: dict[str, Any]  # the arguments of its forward, by name


def running_modules(frames: list[At]) -> list[Running]:
    """From the outermost module to the innermost one."""
    found: list[tuple[object, dict[str, object]]] = []
    caller: FrameType | None = None
    for at in frames:
        frame, code = at.frame, at.frame.f_code
        if not code.co_argcount or code.co_varnames[0] != "self" or not _runs_a_module(code):
            continue
        local = locals_of(frame)
        module = local.get("self")
        if not is_module(module):
            continue
        if caller is None:
            caller = frame.f_back
        arguments = code.co_varnames[1 : code.co_argcount] if code.co_name == "forward" else ()
        inputs = {name: local[name] for name in arguments if name in local}
        if found and found[-1][0] is module:
            found[-1] = (module, inputs or found[-1][1])
        else:
            found.append((module, inputs))
    return _named(found, caller)


def _runs_a_module(code: CodeType) -> bool:
    """Being built, moved or loaded is not running."""
    if is_users(code.co_filename):
        return not code.co_name.startswith("__")
    return code.co_name in ("forward", "_call_impl")


def _named(found: list[tuple[Any, Fields]], caller: FrameType | None) -> list[Running]:
    if not found:
        return []
    from paramedic.program.anatomy import full_name

    root = found[0][0]
    name = variable_name(caller, root) or type(root).__name__
    names = {id(module): path for path, module in reversed(list(root.named_modules(remove_duplicate=False)))}
    return [
        Running(
            full_name(name, names[id(module)], root) if id(module) in names else type(module).__name__, module, inputs
        )
        for module, inputs in found
    ]
