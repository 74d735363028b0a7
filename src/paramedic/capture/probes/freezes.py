"""Every attempt to freeze or unfreeze parameters, effective or not."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from paramedic.capture.probes.ops import OpMode
from paramedic.capture.watcher import Watcher
from paramedic.capture.where import user_site
from paramedic.record.writer import Site

MOST_NAMES = 40


class Freezes:
    """Collects changes of requires_grad by line, and tells them when the next optimizer step makes them matter."""

    def __init__(self, watcher: Watcher, ops: OpMode) -> None:
        self.watcher = watcher
        self.ops = ops
        self._tried: dict[tuple[Site, bool, str], list[torch.Tensor]] = {}

    def install(self) -> None:
        watcher = self.watcher
        self.ops.handle([torch.Tensor.requires_grad.__set__, torch.Tensor.requires_grad_], self._changed)
        original = nn.Module.__setattr__

        # Hot in every constructor, so without the usual wrapper around it.
        def set_attribute(module: nn.Module, name: str, value: Any) -> None:
            original(module, name, value)
            if name == "requires_grad":
                watcher.ask("freezes", self._on_module, module, value)

        watcher.patches.set(nn.Module, "__setattr__", set_attribute)
        watcher.on_step.append(("freezes", lambda: self.tell() if self._tried else None))

    def _changed(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        tensor = args[0]
        if torch._C._functorch.is_functorch_wrapped_tensor(tensor):
            return
        value = bool(args[1] if len(args) > 1 else kwargs.get("requires_grad", True))
        if isinstance(tensor, nn.Parameter):
            self._tried.setdefault((user_site(), value, "parameter"), []).append(tensor)
        elif not value or tensor.dim() > 0:
            self._tried.setdefault((user_site(), value, "tensor"), []).append(tensor.detach())

    def _on_module(self, module: nn.Module, value: Any) -> None:
        count = sum(1 for _ in module.parameters())
        self.watcher.emit(
            "freeze",
            site=user_site(),
            module=self.watcher.registry.path(module),
            phase="setup",
            key=("module", id(module), bool(value)),
            data={"target": "module", "value": bool(value), "names": [], "count": count},
        )

    def tell(self) -> None:
        registry = self.watcher.registry
        owners = {p.data_ptr(): p for module in registry.roots() for p in module.parameters() if p.numel()}
        for (site, value, target), tensors in self._tried.items():
            if target == "tensor":  # is it a handle on a parameter's memory, as state_dict() gives out?
                tensors = [owners[t.data_ptr()] for t in tensors if t.numel() and t.data_ptr() in owners]
                if not tensors:
                    continue
            names = [registry.parameter_name(tensor) for tensor in tensors]
            self.watcher.emit(
                "freeze",
                site=site,
                phase="setup",
                data={
                    "target": "copy" if target == "tensor" else "parameter",
                    "value": value,
                    "names": names[:MOST_NAMES],
                    "count": len(tensors),
                    "now": sum(tensor.requires_grad for tensor in tensors),
                },
            )
        self._tried.clear()
