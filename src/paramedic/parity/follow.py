"""Run a script and note a fingerprint of everything it computes, step by step: `python -m paramedic.parity.follow`."""

from __future__ import annotations

import inspect
import json
import os
import random
import runpy
import sys
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from paramedic.aliases import Args
from paramedic.parity.fingerprints import fingerprint
from paramedic.parity.trace import tensors_in
from paramedic.patching import for_good


class Follower:
    """One line of JSON for each thing that a step computes, in the order in which it does."""

    def __init__(self, out: Path, steps: int) -> None:
        self.file = out.open("w")
        self.steps, self.step = steps, 0
        self._names: dict[int, str] = {}
        self._roots: list[nn.Module] = []
        self._depth = 0

    def install(self) -> None:
        nn.modules.module.register_module_forward_pre_hook(self._enters)
        nn.modules.module.register_module_forward_hook(self._leaves, always_call=True)
        register_optimizer_step_pre_hook(self._before_step)
        register_optimizer_step_post_hook(self._after_step)
        backward = torch.Tensor.backward

        def watched(tensor: torch.Tensor, *args: object, **kwargs: object) -> object:
            self.note("loss", "", tensor)
            return backward(tensor, *args, **kwargs)

        for_good(torch.Tensor, "backward", watched)

    def note(self, kind: str, name: str, tensor: torch.Tensor, **more: object) -> None:
        value = float(tensor.detach().double().norm()) if tensor.is_floating_point() else None
        line = {"step": self.step, "kind": kind, "name": name, "mark": fingerprint(tensor), "norm": value, **more}
        self.file.write(json.dumps(line) + "\n")

    def _enters(self, module: nn.Module, args: Args) -> None:
        if self._depth == 0:
            if not any(module is known for known in self._roots):
                self._know(module)
            for number, tensor in enumerate(tensors_in(args)):
                self.note("input", f"{self._names[id(module)]}[{number}]", tensor)
        self._depth += 1

    def _know(self, module: nn.Module) -> None:
        number = len(self._roots)
        self._roots.append(module)  # kept, so that no other module gets its identity
        root = type(module).__name__ if number == 0 else f"{type(module).__name__}#{number}"
        for name, part in module.named_modules():
            self._names.setdefault(id(part), f"{root}.{name}" if name else root)

    def _leaves(self, module: nn.Module, args: Args, output: object) -> None:
        self._depth = max(0, self._depth - 1)
        for tensor in list(tensors_in(output))[:1]:
            self.note("output", self._names.get(id(module), type(module).__name__), tensor, source=_source(module))

    def _before_step(self, optimizer: Optimizer, *_: object) -> None:
        self._parameters(optimizer, "gradient")

    def _after_step(self, optimizer: Optimizer, *_: object) -> None:
        self._parameters(optimizer, "weight")
        self.file.flush()
        self.step += 1
        if self.step >= self.steps:
            self.file.close()
            os._exit(0)  # enough was seen; what the script would do at its end is none of our business

    def _parameters(self, optimizer: Optimizer, kind: str) -> None:
        named = {id(p): f"{self._names[id(r)]}.{n}" for r in self._roots for n, p in r.named_parameters()}
        for number, parameter in enumerate(p for group in optimizer.param_groups for p in group["params"]):
            tensor = parameter if kind == "weight" else parameter.grad
            if tensor is not None:
                self.note(kind, named.get(id(parameter), f"parameter {number}"), tensor)


def _source(module: nn.Module) -> list[Any] | None:
    """Where the module's class is written, if the user wrote it."""
    try:
        lines, start = inspect.getsourcelines(type(module))
        file = os.path.relpath(inspect.getsourcefile(type(module)) or "")
    except (OSError, TypeError, ValueError):
        return None
    return None if file.startswith("..") else [file, start, start + len(lines)]


def main() -> None:
    out, steps, script, *args = sys.argv[1:]
    torch.manual_seed(0)
    random.seed(0)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(0)
    Follower(Path(out), int(steps)).install()
    sys.argv = [script, *args]
    sys.path[0] = str(Path(script).parent.absolute())
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main()
