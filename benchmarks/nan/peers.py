"""`python -m benchmarks.nan.peers TOOL SCRIPT`: run a script under one of the tools that paramedic is compared with.

Each is given what its own documentation asks for, so that the script itself stays as it is.
"""

from __future__ import annotations

import runpy
import sys
import traceback
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

# May hold anything, or only pass on what they got.
NO_PRODUCERS = (
    "where",
    "clone",
    "detach",
    "copy",
    "empty",
    "new_empty",
    "view",
    "expand",
    "slice",
    "alias",
    "index_put",
)


class EveryOperation(TorchDispatchMode):
    """RETURNN's rule: the first operation outside of a short list whose result is not finite."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        name = func._schema.name.partition("::")[2]
        for tensor in [result] if isinstance(result, torch.Tensor) else []:
            bad = tensor.dtype.is_floating_point and not tensor.isfinite().all()
            if bad and not name.startswith(NO_PRODUCERS):
                traceback.print_stack(sys._getframe(1))
                raise RuntimeError(f"not finite: {name}")
        return result


def debug_underflow_overflow() -> None:
    """The forward hooks of transformers, on every model that is called by itself."""
    from transformers.debug_utils import DebugUnderflowOverflow

    known: set[int] = set()

    def entered(module: torch.nn.Module, args: Any) -> None:
        if id(module) not in known:
            known.update(id(inner) for inner in module.modules())
            DebugUnderflowOverflow(module)

    torch.nn.modules.module.register_module_forward_pre_hook(entered)


def main(tool: str, script: str) -> None:
    sys.argv = [script]
    if tool == "anomaly":
        torch.autograd.set_detect_anomaly(True)
    elif tool == "transformers":
        debug_underflow_overflow()
    elif tool == "operations":
        torch.autograd.set_detect_anomaly(True)  # RETURNN leaves the backward pass to it
        with EveryOperation():
            runpy.run_path(script, run_name="__main__")
        return
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main(*sys.argv[1:])
