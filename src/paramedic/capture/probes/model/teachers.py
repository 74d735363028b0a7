"""Models that only give answers, with weights that never move: do their BatchNorm layers stay as they were, too?"""

from __future__ import annotations

import weakref

import torch
from torch import nn

from paramedic.aliases import Args, Kwargs
from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.kinship import some_of
from paramedic.capture.moments import Call
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program import anatomy
from paramedic.record.facts import Teacher

MOST_LOOKS = 64


@probe("teachers", states=[Teacher])
class Teachers:
    """Looks at frozen models that are called in train mode without gradients, and whether their weights move."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._before: weakref.WeakKeyDictionary[nn.Module, torch.Tensor] = weakref.WeakKeyDictionary()
        self._looks = 0

    @on(moments.model_called)
    def called(self, call: Call, args: Args, kwargs: Kwargs, output: object) -> None:
        module = call.module
        if call.grad or not call.training or self._looks >= MOST_LOOKS:
            return
        norms = [m for m in anatomy.modules(module) if isinstance(m, nn.modules.batchnorm._BatchNorm) and m.training]
        if not any(m.track_running_stats for m in norms) or any(p.requires_grad for p in anatomy.parameters(module)):
            return
        now, known = some_of(module), self._before.get(module)
        if now is None:
            return
        self._looks += 1
        self._before[module] = now
        if known is None or known.device != now.device:
            return
        path, site, step = call.path, call.site, self.watcher.step

        def use(found: list[float]) -> None:
            data = Teacher(moved=bool(found[0]), norms=len(norms))
            self.watcher.state(data, site=site, module=path, step=step, key=(path, data.moved))

        self.watcher.read((now != known).any().float().reshape(1), use)
