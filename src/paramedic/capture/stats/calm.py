"""Work on tensors as if the script had no modes, transforms, autograd, autocast or strict numpy about."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import numpy as np
import torch
from torch._functorch.pyfunctorch import temporarily_clear_interpreter_stack
from torch.utils._python_dispatch import _disable_current_modes


@contextmanager
def undisturbed() -> Iterator[None]:
    """Run as if the script had no modes, transforms, autograd, autocast or strict numpy about."""
    if getattr(_thread, "undisturbed", False):
        yield
        return
    _thread.undisturbed = True
    try:
        with _without_all_that():
            yield
    finally:
        _thread.undisturbed = False


_thread = threading.local()


@contextmanager
def _without_all_that() -> Iterator[None]:
    with ExitStack() as stack:
        stack.enter_context(torch._C.DisableTorchFunction())
        stack.enter_context(np.errstate(all="ignore"))
        if torch._C._functorch.maybe_current_level() is not None:
            stack.enter_context(temporarily_clear_interpreter_stack())
        if torch._C._len_torch_dispatch_stack() > 0:
            stack.enter_context(_disable_current_modes())
        if torch.is_inference_mode_enabled():
            stack.enter_context(torch.inference_mode(False))
        if torch._C._is_any_autocast_enabled():
            for kind in filter(torch.is_autocast_enabled, ("cpu", "cuda", "mps", "xpu")):
                stack.enter_context(torch.autocast(kind, enabled=False))
        stack.enter_context(torch.no_grad())
        yield
