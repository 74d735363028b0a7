"""Loss scaling: the calls of a GradScaler around the optimizer's step."""

from __future__ import annotations

import weakref

import torch
from torch.autograd.graph import Node
from torch.optim import Optimizer

from paramedic.aliases import Function
from paramedic.capture.graph import serials
from paramedic.capture.sources.loop import Loop
from paramedic.capture.watcher import Watcher
from paramedic.program.tensors import tensors_in
from paramedic.program.where import user_site
from paramedic.record.facts import ScalerCall
from paramedic.record.writer import Site


class Scaling:
    """Watches GradScaler: which gradients carry a loss scale, and which calls are missing."""

    def __init__(self, watcher: Watcher, loop: Loop) -> None:
        self.watcher = watcher
        self.loop = loop
        self._scales: dict[int, tuple[weakref.ref[torch.Tensor], torch.Tensor]] = {}
        self._steps_since_update = 0
        self._nodes: set[int] = set()  # of the losses that were scaled since the last update, by serial number
        self._behind: dict[Site, bool] = {}  # by the line of a backward pass: whether its loss was scaled

    def install(self) -> None:
        scaler = torch.amp.GradScaler
        self.watcher.patches.wrap(scaler, "__init__", self._watched_init)
        self.watcher.patches.wrap(scaler, "scale", self._watched_scale)
        self.watcher.patches.wrap(scaler, "unscale_", self._watched_unscale)
        self.watcher.patches.wrap(scaler, "step", self._watched_step)
        self.watcher.patches.wrap(scaler, "update", self._watched_update)

    def _watched_init(self, original: Function) -> Function:
        def init(scaler: torch.amp.GradScaler, *args: object, **kwargs: object) -> None:
            original(scaler, *args, **kwargs)
            if scaler.is_enabled():
                self.watcher.ask("scaling", self._born, scaler)

        return init

    def _born(self, scaler: torch.amp.GradScaler) -> None:
        data = ScalerCall(
            call="built",
            scale=float(scaler._init_scale),
            growth_interval=int(scaler._growth_interval),
            growth_factor=float(scaler._growth_factor),
            backoff_factor=float(scaler._backoff_factor),
        )
        site = user_site()
        self.watcher.state(data, site=site, phase="setup", key=("built", site))

    def scale_of(self, loss: torch.Tensor) -> torch.Tensor | None:
        """The factor a GradScaler put on this loss."""
        known = self._scales.get(id(loss))
        return known[1] if known is not None and known[0]() is loss else None

    def is_behind(self, site: Site, nodes: set[Node] | None) -> bool:
        """Whether the loss differentiated at this line through these nodes was scaled; if unknown, as last time."""
        if nodes is not None:
            self._behind[site] = not self._nodes.isdisjoint(serials(nodes))
        return self._behind.get(site, True)

    def _watched_scale(self, original: Function) -> Function:
        def scale(scaler: torch.amp.GradScaler, outputs: object) -> object:
            result = original(scaler, outputs)
            if scaler.is_enabled():
                losses = [t for _, t in tensors_in(result)]
                self._scales = {id(t): (weakref.ref(t), scaler._scale) for t in losses}
                self._nodes |= serials(t.grad_fn for t in losses if t.grad_fn is not None)
                if not (self.watcher.gears.matching and self.loop.as_before("scale")):
                    self.watcher.ask("scaling", self._scaled, scaler)
            return result

        return scale

    def _scaled(self, scaler: torch.amp.GradScaler) -> None:
        if self.loop.scaled is None:
            self.loop.scaled = False
        self.loop.scale = float(scaler._init_scale)
        site = user_site()
        self.loop.note("scale", site)
        self.watcher.state(ScalerCall(call="scale"), site=site, phase="train", key=("scale", site))

    def _watched_unscale(self, original: Function) -> Function:
        def unscale(scaler: torch.amp.GradScaler, optimizer: Optimizer) -> object:
            result = original(scaler, optimizer)
            if scaler.is_enabled() and not (self.watcher.gears.matching and self.loop.as_before("unscale_")):
                self.watcher.ask("scaling", self._unscaled)
            return result

        return unscale

    def _unscaled(self) -> None:
        self.loop.scaled = False
        site = user_site()
        self.loop.note("unscale_", site)
        self.watcher.state(ScalerCall(call="unscale_"), site=site, phase="train", key=("unscale_", site))

    def _watched_step(self, original: Function) -> Function:
        def step(scaler: torch.amp.GradScaler, optimizer: Optimizer, *args: object, **kwargs: object) -> object:
            account = self.loop.accounts.get(optimizer)
            taken = account.steps if account else 0
            matched = self.watcher.gears.matching
            self.loop.in_scaler_step = not matched
            try:
                return original(scaler, optimizer, *args, **kwargs)
            finally:
                self.loop.in_scaler_step = False
                if scaler.is_enabled() and account is not None and account.steps == taken:
                    self.watcher.ask("scaling", self._skipped, scaler)
                if scaler.is_enabled() and not matched:
                    self.watcher.ask("scaling", self._stepped, optimizer, taken)

        return step

    def _skipped(self, scaler: torch.amp.GradScaler) -> None:
        """The scaler has found infinite gradients and left the step out: keep when, and at which scale."""
        step = self.watcher.step
        scale = scaler._scale.detach().reshape(1).float()
        self.watcher.read(scale, lambda found: self.watcher.writer.point("skipped_at_scale", step, found[0]))

    def _stepped(self, optimizer: Optimizer, taken: int) -> None:
        account = self.loop.accounts.get(optimizer)
        skipped = account is not None and account.steps == taken
        if account is not None and skipped:
            for backward in account.pending:
                backward.used = True  # the scaler looked at them and decided to skip: that is use
        if self.loop.scaled is not None:
            self.loop.scaled = False
        self._steps_since_update += 1
        site = user_site()
        self.watcher.state(
            ScalerCall(call="step", skipped=skipped, steps_since_update=self._steps_since_update),
            site=site,
            phase="train",
            key=("step", site, skipped, self._steps_since_update > 2),
        )

    def _watched_update(self, original: Function) -> Function:
        def update(scaler: torch.amp.GradScaler, *args: object, **kwargs: object) -> object:
            result = original(scaler, *args, **kwargs)
            self._nodes.clear()
            if scaler.is_enabled() and not (self.watcher.gears.matching and self.loop.as_before("update")):
                self.watcher.ask("scaling", self._updated)
            return result

        return update

    def _updated(self) -> None:
        self._steps_since_update = 0
        site = user_site()
        self.loop.note("update", site)
        self.watcher.state(ScalerCall(call="update"), site=site, phase="train", key=("update", site))
