"""Gradient clipping: of which gradients, before or after which other calls."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from paramedic.aliases import Args, Function, Kwargs
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program.where import user_site
from paramedic.record.facts import Clip


@probe("clipping", states=[Clip])
class Clipping:
    """Watches clip_grad_norm_ and clip_grad_value_."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.loop = watcher.known.loop

    def install(self) -> None:
        for name in ("clip_grad_norm_", "clip_grad_value_"):
            self._watch(name)

    def _watch(self, name: str) -> None:
        def watched(original: Function) -> Function:
            def clip(parameters: Any, *args: object, **kwargs: object) -> torch.Tensor:
                if self.watcher.gears.matching and self.loop.as_before("clip"):
                    return original(parameters, *args, **kwargs)
                if not isinstance(parameters, (torch.Tensor, list, tuple)):
                    parameters = list(parameters)  # a generator can be read only once, and torch is to read it
                fresh = self.watcher.ask("clipping", self._fresh, parameters)  # clipping itself writes to them
                result = original(parameters, *args, **kwargs)
                self.watcher.ask("clipping", self._clipped, name, parameters, bool(fresh), args, kwargs, result)
                return result

            return clip

        # The name lives in two places, and `from torch.nn.utils import clip_grad_norm_` is how people write it.
        self.watcher.patches.wrap(nn.utils.clip_grad, name, watched)
        self.watcher.patches.set(nn.utils, name, getattr(nn.utils.clip_grad, name))

    def _fresh(self, parameters: object) -> bool:
        """Whether gradients are there that no step has used, be they from a backward pass or written by hand."""
        accounts = {a.number: a for p in _listed(parameters) for a in self.loop.books.accounts_of(id(p))}
        return any(account.pending or account.new_by_hand() for account in accounts.values())

    def _clipped(self, name: str, parameters: object, fresh: bool, args: Args, kwargs: Kwargs, result: Any) -> None:
        loop, site = self.loop, user_site()
        tensors = _listed(parameters)
        with_gradient = [p for p in tensors if p.grad is not None]
        accounts = [account for p in with_gradient for account in loop.books.accounts_of(id(p))]
        pending = any(account.pending for account in accounts)
        for backward in [b for account in accounts for b in account.pending]:
            backward.measured = True
        stale = bool(accounts) and not fresh
        scaled = bool(loop.scaled)
        trainable = sum(1 for a in loop.accounts for g in a.param_groups for p in g["params"] if p.grad is not None)
        covered = sum(id(p) in loop.books.owners for p in with_gradient)
        loop.note("clip", site, stale=stale, scaled=scaled, empty=not with_gradient)
        limit = kwargs.get("max_norm", kwargs.get("clip_value", args[0] if args else None))
        data = Clip(
            function=name,
            limit=float(limit) if isinstance(limit, (int, float)) else None,
            tensors=len(tensors),
            with_gradient=len(with_gradient),
            covered=covered,
            optimised_with_gradient=trainable,
            pending=pending,
            stale=stale,
            scaled=scaled,
            scale=loop.scale,
        )
        key = (site, len(tensors) > 0, bool(with_gradient), covered > 0, pending, stale, scaled)
        self.watcher.state(data, site=site, phase="train", key=key)
        if name == "clip_grad_norm_" and data.limit and pending and type(result) is torch.Tensor:
            step = self.watcher.step
            norm = result.detach().reshape(1).float() / (1.0 if not scaled else loop.scale)
            self.watcher.read(norm, lambda found: self.watcher.writer.point("norm_before_clip", step, found[0]))


def _listed(parameters: Any) -> list[torch.Tensor]:
    return [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)
