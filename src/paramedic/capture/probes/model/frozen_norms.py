"""BatchNorm layers whose weights are frozen: how far their running statistics have gone since."""

from __future__ import annotations

import weakref

import torch
from torch import nn

from paramedic.aliases import Args, Kwargs
from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.facts import own_parameters
from paramedic.capture.moments import Call
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program import anatomy
from paramedic.record.facts import NormDrift

# Calls after which it is measured: statistics need some batches to move.
LOOKS = (4, 8, 12, 16, 24, 32, 64)


@probe("frozen_norms", states=[NormDrift])
class FrozenNorms:
    """Compares the statistics of frozen layers in train mode with those at the first call that found them frozen."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._before: weakref.WeakKeyDictionary[nn.Module, torch.Tensor] = weakref.WeakKeyDictionary()
        self._looks: weakref.WeakKeyDictionary[nn.Module, int] = weakref.WeakKeyDictionary()  # by model

    @on(moments.model_called)
    def called(self, call: Call, args: Args, kwargs: Kwargs, output: object) -> None:
        model = call.module
        if not call.grad or not call.training:
            return
        norms = [m for m in anatomy.modules(model) if isinstance(m, nn.modules.batchnorm._BatchNorm)]
        frozen = [m for m in norms if _is_frozen(m)]
        for m in norms:
            if m not in frozen:
                self._before.pop(m, None)
        if not frozen:
            self._looks.pop(model, None)
            return
        looks = self._looks[model] = self._looks.get(model, 0) + 1
        known = [m for m in frozen if m in self._before]
        for m in frozen:
            if m not in self._before and m.running_mean is not None:
                self._before[m] = m.running_mean.detach().clone()
        if looks in LOOKS and known:
            self._measure(call, known)

    def _measure(self, call: Call, known: list[nn.Module]) -> None:
        ways = [_way(self._before[m], m) for m in known]
        path, site, step = call.path, call.site, self.watcher.step

        def use(found: list[float]) -> None:
            data = NormDrift(norms=len(found), furthest=max(found))
            self.watcher.state(data, site=site, module=path, step=step)

        with torch.no_grad():
            self.watcher.read(torch.stack(ways), use)


def _is_frozen(norm: nn.Module) -> bool:
    weights = own_parameters(norm).values()
    return bool(norm.training and norm.running_mean is not None and weights) and not any(
        p.requires_grad for p in weights
    )


def _way(before: torch.Tensor, norm: nn.Module) -> torch.Tensor:
    """How far the running mean has gone, in standard deviations: the mean over the channels."""
    mean, spread = norm.running_mean, norm.running_var
    assert isinstance(mean, torch.Tensor) and isinstance(spread, torch.Tensor)
    return ((mean - before.to(mean.device)).abs() / (spread + 1e-5).sqrt()).float().mean().detach()
