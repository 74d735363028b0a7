"""How a module was made: its class and the arguments of its constructor, so that it can be made again elsewhere."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

import torch
from torch import nn

from paramedic.aliases import Fields
from paramedic.patching import Patches

Recipe = dict[str, Any]
PLAIN = (int, float, str, bool, bytes, type(None), torch.Tensor, torch.device, torch.dtype, torch.Size)
_made: dict[int, tuple[nn.Module, list[Any], dict[str, Any]]] = {}


@contextlib.contextmanager
def remembered() -> Iterator[None]:
    """Inside this block the constructor arguments of every module are kept."""
    original = nn.Module.__init__

    def remember(module: nn.Module, *args: object, **kwargs: object) -> None:
        _remember(module)
        original(module, *args, **kwargs)

    patches = Patches()
    patches.set(nn.Module, "__init__", remember)
    try:
        yield
    finally:
        patches.undo()


def _remember(module: nn.Module) -> None:
    frame: FrameType | None = sys._getframe(2)
    found: FrameType | None = None
    while frame is not None and frame.f_code.co_name in ("__init__", "remember"):
        names = frame.f_code.co_varnames
        if not names or frame.f_locals.get(names[0]) is not module:
            break
        found = frame if frame.f_code.co_name == "__init__" else found
        frame = frame.f_back
    if found is None:
        _made[id(module)] = (module, [], {})
        return
    given = inspect.getargvalues(found)
    values = given.locals
    args = [values[name] for name in given.args[1:]] if given.varargs else []
    named = {} if given.varargs else {name: values[name] for name in given.args[1:]}
    count = found.f_code.co_argcount
    only = found.f_code.co_varnames[count : count + found.f_code.co_kwonlyargcount]
    named |= {name: values[name] for name in only}
    named |= dict(values[given.keywords]) if given.keywords else {}
    _made[id(module)] = (module, [*args, *(values[given.varargs] if given.varargs else ())], named)


def recipe(module: object) -> Recipe | None:
    """None where an argument is something that cannot be written down."""
    known = _made.get(id(module))
    if known is None or known[0] is not module:
        return None
    args = [_written(value) for value in known[1]]
    kwargs = {name: _written(value) for name, value in known[2].items()}
    if any(value is None for value in (*args, *kwargs.values())):
        return None
    kind = type(module)
    return {"class": [kind.__module__, kind.__qualname__], "args": args, "kwargs": kwargs}


def _written(value: object) -> object:
    """{"value": …} for plain data, {"code": …} for functions and classes, a recipe for a module."""
    if isinstance(value, nn.Module):
        return recipe(value)
    if callable(value) and hasattr(value, "__qualname__") and hasattr(value, "__module__"):
        return {"code": [value.__module__, value.__qualname__]}
    return {"value": value} if _is_simple(value) else None


def _is_simple(value: object) -> bool:
    if isinstance(value, (list, tuple)):
        return type(value) in (list, tuple) and all(_is_simple(item) for item in value)
    if isinstance(value, dict):
        return all(_is_simple(item) for item in value.values())
    return isinstance(value, PLAIN) and not isinstance(value, nn.Parameter)


def names_in(found: Recipe) -> set[str]:
    """Names of the script that a recipe refers to."""
    parts = [found, *found.get("args", []), *found.get("kwargs", {}).values()]
    names: set[str] = set()
    for part in parts:
        place = part.get("class") or part.get("code")
        if place and place[0] == "__main__":
            names.add(place[1].partition(".")[0])
        if part is not found and "class" in part:
            names |= names_in(part)
    return names


def cook(found: Recipe, names: Fields) -> Any:
    """Make it again; classes of the script are looked up in `names`."""
    if "value" in found:
        return found["value"]
    if "code" in found:
        return _lookup(found["code"], names)
    args = [cook(value, names) for value in found["args"]]
    return _lookup(found["class"], names)(*args, **{k: cook(v, names) for k, v in found["kwargs"].items()})


def _lookup(place: list[str], names: dict[str, object]) -> Any:
    module, qualname = place
    first, *rest = qualname.split(".")
    value = names[first] if module == "__main__" else getattr(importlib.import_module(module), first)
    for part in rest:
        value = getattr(value, part)
    return value


def optimizer_recipe(optimizer: Any, model: nn.Module) -> Recipe | None:
    """Its class and groups, with parameters by name; None where it holds others than the model's."""
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    kind = type(optimizer)
    groups = []
    for group in optimizer.param_groups:
        own = [names.get(id(parameter)) for parameter in group["params"]]
        if None in own:
            return None
        settings = {key: value for key, value in group.items() if key != "params" and _is_simple(value)}
        groups.append({"params": own, **settings})
    return {"class": [kind.__module__, kind.__qualname__], "groups": groups}


def cook_optimizer(found: Recipe, model: nn.Module, names: Fields) -> Any:
    parameters = dict(model.named_parameters())
    accepted = set(inspect.signature((kind := _lookup(found["class"], names)).__init__).parameters) | {"params"}
    groups = [
        {
            key: [parameters[n] for n in value] if key == "params" else value
            for key, value in group.items()
            if key in accepted
        }
        for group in found["groups"]
    ]
    return kind(groups, **{"lr": groups[0]["lr"]} if "lr" in groups[0] else {})
