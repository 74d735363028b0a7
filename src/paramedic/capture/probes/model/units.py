"""Units behind activation functions: those that never fire, and values pinned where the slope is gone."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.nn import functional as F

from paramedic.aliases import Args, Function, Kwargs
from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.facts import readable, sample
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program.where import user_site
from paramedic.record.facts import Units as UnitsFact
from paramedic.record.writer import Site

T = torch.Tensor
MOST_LAYERS = 200
_RELU = (F.relu, torch.relu, T.relu, F.relu_, T.relu_, torch.relu_, F.relu6)
_SIGMOID = (F.sigmoid, torch.sigmoid, T.sigmoid, F.hardsigmoid)
_TANH = (F.tanh, torch.tanh, T.tanh, F.hardtanh)
PINNED = 0.99  # of the way to the end: what "pinned" means here. How many are too many, a rule says


@dataclass(slots=True)
class Layer:
    """One activation: what its units did since `since`."""

    since: int
    alive: torch.Tensor  # per unit
    samples: int = 0


@probe("units", states=[UnitsFact])
class Units:
    """Adds up what examined training steps show; the sum starts anew when the step number has grown fourfold."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.calls = watcher.known.calls
        self.ops = watcher.known.ops
        self._layers: dict[tuple[Site, str | None, int], Layer] = {}
        self._calls: dict[tuple[Site, str | None], int] = {}

    @on(moments.step_taken, moments.round_over)
    def _forget(self) -> None:
        self._calls.clear()

    def install(self) -> None:
        self._join(_RELU, "relu")
        self._join(_SIGMOID, "sigmoid")
        self._join(_TANH, "tanh")

    def _join(self, functions: tuple[Function, ...], kind: str) -> None:
        def handler(func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
            if isinstance(result, T) and result.grad_fn is not None and result.dim() > 1 and readable(result):
                self._look(kind, result)

        self.ops.handle(functions, handler, "units")

    def _look(self, kind: str, result: torch.Tensor) -> None:
        module = self.calls.inside()
        if module is None:
            return  # part of a loss
        site = self.calls.native_site() or user_site()
        index = self._calls[site, module] = self._calls.get((site, module), -1) + 1
        key = (site, module, index)  # one line may run for several layers, in a loop
        if len(self._layers) >= MOST_LAYERS and key not in self._layers:
            return
        with torch.no_grad():
            x = sample(result)
            dimension = 1 if x.dim() > 3 else x.dim() - 1  # channels of images; else features come last
            units = x.shape[dimension]
            values = x.movedim(dimension, -1).reshape(-1, units)
            fired = (values > 0).any(0) if kind == "relu" else values.var(0, correction=0) > 0
            pinned = _pinned(kind, values)
            step, layer = self.watcher.step, self._layers.get(key)
            if layer is None or layer.alive.shape != fired.shape or step >= 4 * max(layer.since, 2):
                layer = self._layers[key] = Layer(step, torch.zeros_like(fired))
            layer.alive = layer.alive | fired
            layer.samples += len(values)
            numbers = torch.stack([layer.alive.sum().float(), pinned])
        since, samples = layer.since, layer.samples

        def use(found: list[float]) -> None:
            alive, pinned = int(found[0]), found[1]
            fact = UnitsFact(op=kind, units=units, call=index, since=since, samples=samples, alive=alive, pinned=pinned)
            self.watcher.state(fact, site=site, module=module, phase="train", step=step)

        self.watcher.read(numbers, use)


def _pinned(kind: str, values: torch.Tensor) -> torch.Tensor:
    """The share of values within one percent of an end of the range."""
    if kind == "relu":
        return values.new_zeros((), dtype=torch.float32)
    if kind == "sigmoid":
        values = 2 * values - 1
    return (values.abs() > PINNED).float().mean()
