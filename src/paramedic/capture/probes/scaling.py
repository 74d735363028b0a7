"""Gradient clipping, loss scaling and learning-rate schedules: the calls around the optimizer's step."""

from __future__ import annotations

import sys
import weakref
from types import FrameType
from typing import Any

import torch
from torch import nn
from torch.optim.lr_scheduler import LRScheduler, ReduceLROnPlateau

from paramedic.capture.facts import tensors_in
from paramedic.capture.probes.loop import Loop
from paramedic.capture.watcher import Watcher
from paramedic.capture.where import built_at, user_site
from paramedic.record.writer import Site


class Clipping:
    """Watches clip_grad_norm_ and clip_grad_value_."""

    def __init__(self, watcher: Watcher, loop: Loop) -> None:
        self.watcher = watcher
        self.loop = loop

    def install(self) -> None:
        for name in ("clip_grad_norm_", "clip_grad_value_"):
            self._watch(name)

    def _watch(self, name: str) -> None:
        def watched(original: Any) -> Any:
            def clip(parameters: Any, *args: Any, **kwargs: Any) -> Any:
                if not self.watcher.resting and not isinstance(parameters, (torch.Tensor, list, tuple)):
                    parameters = list(parameters)  # a generator can be read only once, and torch is to read it
                result = original(parameters, *args, **kwargs)
                if not (self.watcher.resting and self.loop.as_before("clip")):
                    self.watcher.ask("clipping", self._clipped, name, parameters, args, kwargs, result)
                return result

            return clip

        # The name lives in two places, and `from torch.nn.utils import clip_grad_norm_` is how people write it.
        self.watcher.patches.wrap(nn.utils.clip_grad, name, watched)
        self.watcher.patches.set(nn.utils, name, getattr(nn.utils.clip_grad, name))

    def _clipped(self, name: str, parameters: Any, args: Any, kwargs: Any, result: Any) -> None:
        loop, site = self.loop, user_site()
        tensors = [tensor for _, tensor in tensors_in([parameters] if isinstance(parameters, torch.Tensor) else [])]
        tensors = tensors or list(parameters)
        with_gradient = [p for p in tensors if p.grad is not None]
        accounts = [account for p in with_gradient for account in loop.accounts_of(id(p))]
        pending = any(account.pending for account in accounts)
        stale = bool(accounts) and not pending
        scaled = bool(loop.scaled)
        trainable = sum(1 for a in loop.accounts for g in a.param_groups for p in g["params"] if p.grad is not None)
        covered = sum(id(p) in loop.owners for p in with_gradient)
        loop.note("clip", site, stale=stale, scaled=scaled, empty=not with_gradient)
        limit = kwargs.get("max_norm", kwargs.get("clip_value", args[0] if args else None))
        data = {
            "function": name,
            "limit": float(limit) if isinstance(limit, (int, float)) else None,
            "tensors": len(tensors),
            "with_gradient": len(with_gradient),
            "covered": covered,
            "optimised_with_gradient": trainable,
            "pending": pending,
            "stale": stale,
            "scaled": scaled,
            "scale": loop.scale,
        }
        key = (site, len(tensors) > 0, bool(with_gradient), covered > 0, pending, stale, scaled)
        self.watcher.emit("clip", site=site, phase="train", data=data, key=key)


class Scaling:
    """Watches GradScaler: which gradients carry a loss scale, and which calls are missing."""

    def __init__(self, watcher: Watcher, loop: Loop) -> None:
        self.watcher = watcher
        self.loop = loop
        self._scales: dict[int, tuple[weakref.ref[torch.Tensor], Any]] = {}
        self._steps_since_update = 0

    def install(self) -> None:
        scaler = torch.amp.GradScaler
        self.watcher.patches.wrap(scaler, "scale", self._watched_scale)
        self.watcher.patches.wrap(scaler, "unscale_", self._watched_unscale)
        self.watcher.patches.wrap(scaler, "step", self._watched_step)
        self.watcher.patches.wrap(scaler, "update", self._watched_update)

    def scale_of(self, loss: torch.Tensor) -> Any:
        """The factor a GradScaler put on this loss."""
        known = self._scales.get(id(loss))
        return known[1] if known is not None and known[0]() is loss else None

    def _watched_scale(self, original: Any) -> Any:
        def scale(scaler: Any, outputs: Any) -> Any:
            result = original(scaler, outputs)
            if scaler.is_enabled():
                self._scales = {id(t): (weakref.ref(t), scaler._scale) for _, t in tensors_in(result)}
                if not (self.watcher.resting and self.loop.as_before("scale")):
                    self.watcher.ask("scaling", self._scaled, scaler)
            return result

        return scale

    def _scaled(self, scaler: Any) -> None:
        if self.loop.scaled is None:
            self.loop.scaled = False
        self.loop.scale = float(scaler._init_scale)
        site = user_site()
        self.loop.note("scale", site)
        self.watcher.emit("scaler", site=site, phase="train", key=("scale", site), data={"call": "scale"})

    def _watched_unscale(self, original: Any) -> Any:
        def unscale(scaler: Any, optimizer: Any) -> Any:
            result = original(scaler, optimizer)
            if scaler.is_enabled() and not (self.watcher.resting and self.loop.as_before("unscale_")):
                self.watcher.ask("scaling", self._unscaled)
            return result

        return unscale

    def _unscaled(self) -> None:
        self.loop.scaled = False
        site = user_site()
        self.loop.note("unscale_", site)
        self.watcher.emit("scaler", site=site, phase="train", key=("unscale_", site), data={"call": "unscale_"})

    def _watched_step(self, original: Any) -> Any:
        def step(scaler: Any, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            if self.watcher.resting:
                return original(scaler, optimizer, *args, **kwargs)
            account = self.loop.accounts.get(optimizer)
            taken = account.steps if account else 0
            self.loop.in_scaler_step = True
            try:
                return original(scaler, optimizer, *args, **kwargs)
            finally:
                self.loop.in_scaler_step = False
                if scaler.is_enabled():
                    self.watcher.ask("scaling", self._stepped, optimizer, taken)

        return step

    def _stepped(self, optimizer: Any, taken: int) -> None:
        account = self.loop.accounts.get(optimizer)
        skipped = account is not None and account.steps == taken
        if account is not None and skipped:
            for backward in account.pending:
                backward.used = True  # the scaler looked at them and decided to skip: that is use
        if self.loop.scaled is not None:
            self.loop.scaled = False
        self._steps_since_update += 1
        site = user_site()
        self.watcher.emit(
            "scaler",
            site=site,
            phase="train",
            key=("step", site, skipped, self._steps_since_update > 2),
            data={"call": "step", "skipped": skipped, "steps_since_update": self._steps_since_update},
        )

    def _watched_update(self, original: Any) -> Any:
        def update(scaler: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(scaler, *args, **kwargs)
            if scaler.is_enabled() and not (self.watcher.resting and self.loop.as_before("update")):
                self.watcher.ask("scaling", self._updated)
            return result

        return update

    def _updated(self) -> None:
        self._steps_since_update = 0
        site = user_site()
        self.loop.note("update", site)
        self.watcher.emit("scaler", site=site, phase="train", key=("update", site), data={"call": "update"})


class Schedulers:
    """Watches learning-rate schedulers; the step that their constructor takes is not the user's."""

    def __init__(self, watcher: Watcher, loop: Loop) -> None:
        self.watcher = watcher
        self.loop = loop
        self._building = 0
        self._watched: set[type] = set()
        # Optimizers that got a saved state: the learning rates in it.
        self._restored: weakref.WeakKeyDictionary[Any, list[float]] = weakref.WeakKeyDictionary()
        self._resumed: list[tuple[weakref.ref[Any], Site, dict[str, Any]]] = []

    def restored(self, optimizer: Any) -> None:
        """An optimizer has loaded a saved state."""
        self._restored[optimizer] = _rates(optimizer)

    def install(self) -> None:
        def watched_init(original: Any) -> Any:
            def init(scheduler: Any, *args: Any, **kwargs: Any) -> None:
                self._watch(type(scheduler))
                rates = self.watcher.ask("schedulers", self._as_restored, args, kwargs) if self._restored else None
                self._building += 1
                try:
                    original(scheduler, *args, **kwargs)
                finally:
                    self._building -= 1
                if not self._building and rates:
                    self.watcher.ask("schedulers", self._built, scheduler, rates)

            return init

        self.watcher.on_step.append(("schedulers", lambda: self._tell_resumed() if self._resumed else None))
        self.watcher.patches.wrap(LRScheduler, "__init__", watched_init)
        self.watcher.patches.wrap(ReduceLROnPlateau, "__init__", watched_init)

    def _watch(self, kind: type) -> None:
        """Patch `step` where the class, or the ancestor it takes it from, defines it."""
        owner = next((c for c in kind.__mro__ if "step" in vars(c)), None)
        if owner is None or owner in self._watched:
            return
        self._watched.add(owner)

        def watched(original: Any) -> Any:
            def step(scheduler: Any, *args: Any, **kwargs: Any) -> Any:
                self._building += 1  # a scheduler made of schedulers steps them itself
                try:
                    result = original(scheduler, *args, **kwargs)
                finally:
                    self._building -= 1
                if not self._building and not (
                    self.watcher.resting and self.loop.as_before("scheduler", id(scheduler))
                ):
                    self.watcher.ask("schedulers", self._stepped, scheduler)
                return result

            return step

        self.watcher.patches.wrap(owner, "step", watched)

    def _as_restored(self, args: Any, kwargs: Any) -> list[float] | None:
        """The restored learning rates of the optimizer that a scheduler is made for, unless they were changed since."""
        optimizer = kwargs.get("optimizer", args[0] if args else None)
        restored = self._restored.get(optimizer) if optimizer is not None else None
        return restored if restored == _rates(optimizer) else None

    def _built(self, scheduler: Any, restored: list[float]) -> None:
        optimizer = scheduler.optimizer
        data = {"class": type(scheduler).__name__, "restored": restored}
        self._resumed.append((weakref.ref(optimizer), built_at(scheduler), data))

    def _tell_resumed(self) -> None:
        """The first step after it: what was set right in between does not count."""
        resumed, self._resumed = self._resumed, []
        for reference, site, data in resumed:
            if (optimizer := reference()) is not None:
                self.watcher.emit("resumed", site=site, phase="setup", data={**data, "used": _rates(optimizer)})

    def _stepped(self, scheduler: Any) -> None:
        optimizer = getattr(scheduler, "optimizer", None)
        account = self.loop.account_behind(optimizer)
        site = user_site()
        before = account.steps == 0 if account is not None else self.watcher.step == 0
        if before and _in_constructor():
            return
        rates = _rates(optimizer)
        self.loop.note("scheduler", site, account.number if account else None, on=id(scheduler))
        data = {"class": type(scheduler).__name__, "before_first_step": before, "rates": rates}
        self.watcher.emit("scheduler", site=site, phase="train", key=(site, before), data=data)


def _rates(optimizer: Any) -> list[float]:
    return [float(group["lr"]) for group in optimizer.param_groups] if optimizer is not None else []


def _in_constructor() -> bool:
    """Whether a scheduler's constructor is running: some call their parts' step() without the usual constructor."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if code.co_name in ("__init__", "_initial_step") and code.co_filename.endswith("lr_scheduler.py"):
            return True
        frame = frame.f_back
    return False
