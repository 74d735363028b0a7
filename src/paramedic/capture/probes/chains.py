"""Affine layers whose output goes straight into the next one."""

from __future__ import annotations

import weakref
from typing import Any

import torch
from torch import nn

from paramedic.capture.probes.call import Call
from paramedic.capture.watcher import Watcher

_AFFINE = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)
MOST_REMEMBERED = 256


class Chains:
    """Recognises the very tensor that one layer returned as the input of another, unchanged in between."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._made: dict[int, tuple[weakref.ref[torch.Tensor], int, str, dict[str, Any]]] = {}

    def install(self) -> None:
        self.watcher.on_step.append(("chains", self._made.clear))

    def called(self, call: Call, args: Any, kwargs: Any, output: Any) -> None:
        if type(call.module) not in _AFFINE or not call.grad or not args or not isinstance(args[0], torch.Tensor):
            return
        about = _about(call.module)
        given: torch.Tensor = args[0]
        known = self._made.get(id(given))
        if known is not None and given is known[0]() and known[1] == args[0]._version:
            site = self.watcher.registry.birth_site(call.module)
            data = {"first": known[2], "first_layer": known[3], "second_layer": about}
            self.watcher.emit("chain", site=site, module=call.path, phase="train", key=(known[2], call.path), data=data)
        if isinstance(output, torch.Tensor) and len(self._made) < MOST_REMEMBERED:
            self._made[id(output)] = (weakref.ref(output), output._version, call.path, about)


def _about(module: Any) -> dict[str, Any]:
    if isinstance(module, nn.Linear):
        return {"class": "Linear", "in": module.in_features, "out": module.out_features, "kernel": 1, "groups": 1}
    kernel = 1
    for size in module.kernel_size:
        kernel *= size
    sizes = {"in": module.in_channels, "out": module.out_channels}
    return {"class": type(module).__name__, **sizes, "kernel": kernel, "groups": module.groups}
