"""Closures given to `optimizer.step`: the gradients come into being inside the step, and are used at once."""

from __future__ import annotations

import functools
from collections.abc import Callable

from paramedic.aliases import Args, Kwargs


def has_closure(args: Args, kwargs: Kwargs) -> bool:
    """torch hands the hooks the arguments of `step`, the optimizer itself first."""
    return (args[1] if len(args) > 1 else kwargs.get("closure")) is not None


def guarded(args: Args, kwargs: Kwargs, look: Callable[[], None]) -> tuple[object, object] | None:
    """The same arguments with a closure that has somebody look at the gradients before they are used.

    A line search tries steps that are too long, and takes them back: it is left alone.
    """
    optimizer = args[0]
    if any(group.get("line_search_fn") for group in optimizer.param_groups):
        return None
    original = args[1] if len(args) > 1 else kwargs["closure"]

    @functools.wraps(original)
    def closure() -> object:
        result = original()
        look()
        return result

    return ((optimizer, closure, *args[2:]), kwargs) if len(args) > 1 else (args, {**kwargs, "closure": closure})
