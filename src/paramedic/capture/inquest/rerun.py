"""Run a failing step again, with the random state as it was, and leave no trace of it."""

from __future__ import annotations

import contextlib
import io
import random
import sys
from collections.abc import Iterator
from typing import Any, NoReturn

import torch
from torch import nn

from paramedic.capture.inquest.excerpt import Excerpt
from paramedic.capture.inquest.randomness import RandomState
from paramedic.capture.inquest.tracer import Reached

_depth = [0]  # of re-executions under way


def rerunning() -> bool:
    return _depth[0] > 0


def intercept(tensors: Any, *_: object, **__: object) -> NoReturn:
    """Stands in for torch.autograd.backward while a step is re-executed."""
    given = [tensors] if isinstance(tensors, torch.Tensor) else list(tensors)
    raise Reached([tensor for tensor in given if isinstance(tensor, torch.Tensor)])


def rerun(excerpt: Excerpt, tracer: contextlib.AbstractContextManager[object]) -> list[torch.Tensor] | BaseException:
    """The loss or losses that the statements come to (see Tracer), or what kept them from coming to that."""
    _depth[0] += 1
    try:
        with tracer, torch._C._EnableTorchFunction(), _default_device(), _eagerly():
            exec(excerpt.code, excerpt.variables)
    except Reached as reached:
        return reached.losses
    except (Exception, SystemExit) as error:
        return error
    finally:
        _depth[0] -= 1
        for owner, name, value in excerpt.attributes:
            with contextlib.suppress(Exception):
                setattr(owner, name, value)
    return RuntimeError("the awaited value did not occur again")


def _eagerly() -> contextlib.AbstractContextManager[object]:
    """Without a compiler, if there is one: to ask for it would import it, which takes seconds."""
    stance = getattr(torch.compiler, "set_stance", None)  # torch 2.5 has none
    if stance is None or "torch._dynamo" not in sys.modules:
        return contextlib.nullcontext()
    return stance("force_eager")


def _default_device() -> contextlib.AbstractContextManager[object]:
    """What the user gave to torch.set_default_device: torch suspends it within backward(), where we are called from."""
    context = getattr(getattr(torch, "_GLOBAL_DEVICE_CONTEXT", None), "device_context", None)
    return torch.device(context.device) if context is not None else contextlib.nullcontext()


@contextlib.contextmanager
def without_trace(modules: list[nn.Module], random_state: RandomState | None) -> Iterator[None]:
    """Lend the modules copies of their buffers and put random states back; what is printed meanwhile is lost.

    So are warnings: to catch them would make python show the old ones again.
    """
    holders = [inner for module in modules for inner in module.modules() if inner._buffers]
    buffers = [(holder, holder._buffers.copy()) for holder in holders]
    parameters = tuple({id(p): p for module in modules for p in module.parameters()}.values())
    python, numpy = random.getstate(), sys.modules.get("numpy")
    numpy_state = numpy.random.get_state() if numpy is not None else None
    quiet = io.StringIO()
    try:
        for holder, own in buffers:
            holder._buffers.update({name: b.detach().clone() for name, b in own.items() if b is not None})
        with (
            torch.autograd._unsafe_preserve_version_counter(parameters),
            torch.random.fork_rng(devices=range(torch.cuda.device_count()) if torch.cuda.is_initialized() else []),
            contextlib.redirect_stdout(quiet),
            contextlib.redirect_stderr(quiet),
        ):
            if random_state is not None:
                random_state.put_back()
            yield
    finally:
        random.setstate(python)
        if numpy is not None and numpy_state is not None:
            numpy.random.set_state(numpy_state)
        for holder, own in buffers:
            holder._buffers.clear()
            holder._buffers.update(own)
