"""Weights that were loaded: are they still there when the training begins?"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import nn

from paramedic.aliases import Args, Function, Kwargs
from paramedic.capture import moments
from paramedic.capture.bus import on, on_call_of
from paramedic.capture.facts import address, readable
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program import anatomy
from paramedic.program.where import user_site
from paramedic.record.facts import Overwritten
from paramedic.record.writer import NOWHERE, Site

T = torch.Tensor
MOST_LOADS = 8  # waiting at the same time, and looked at from one line
TENSORS, ELEMENTS = 8, 64  # that are remembered of each load


@dataclass(slots=True)
class Load:
    """Some of the values that a model was given."""

    model: weakref.ref[nn.Module]
    path: str
    site: Site
    names: list[str]
    values: list[torch.Tensor]
    addresses: set[int]
    written: Site = NOWHERE  # where the user's code wrote to one of them since


@probe("overwritten_weights", states=[Overwritten])
class OverwrittenWeights:
    """Remembers a few elements of loaded weights until the next step; one step moves them a little.

    Not of a model that is trained already: it may be given its best weights to be tested, and then begin anew.
    """

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.held = (
            watcher.known.loop.books.owners.__contains__
        )  # whether an optimizer holds the parameter with this id
        self._waiting: list[Load] = []
        self._from: Counter[Site] = Counter()  # a target network loads again and again

    @on(moments.model_loaded)
    def given(self, model: nn.Module, state: Mapping[str, object], path: str, site: Site) -> None:
        """A model has loaded a state dict; a later load takes the place of an earlier one."""
        self._from[site] += 1
        inside = {id(module) for module in anatomy.modules(model)}
        self._waiting = [load for load in self._waiting if id(load.model()) not in inside][-MOST_LOADS + 1 :]
        names = [name for name, p in anatomy.named_parameters(model) if name in state and p.dim() > 1 and readable(p)]
        if not names or self._from[site] > MOST_LOADS or any(self.held(id(p)) for p in anatomy.parameters(model)):
            return
        names = names[:: -(-len(names) // TENSORS)]
        chosen = [model.get_parameter(name) for name in names]
        values, addresses = [some_of(p) for p in chosen], {address(p) for p in chosen}
        self._waiting.append(Load(weakref.ref(model), path, site, names, values, addresses))

    @on_call_of(T.normal_, T.uniform_, T.zero_, T.fill_, T.copy_, T.mul_)
    def _wrote(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        if not self._waiting or torch.is_grad_enabled() or not isinstance(args[0], T) or not readable(args[0]):
            return
        for load in self._waiting:
            if address(args[0]) in load.addresses:
                load.written = user_site()

    @on(moments.step_taken)
    def _look(self) -> None:
        waiting, self._waiting = self._waiting, []
        for load in waiting:
            model = load.model()
            if model is None:
                continue
            known = dict(anatomy.named_parameters(model))
            if not all(name in known for name in load.names):
                continue  # a part was taken away or exchanged since
            now = [some_of(known[name]) for name in load.names]
            if all(a.shape == b.shape and a.device == b.device for a, b in zip(now, load.values, strict=True)):
                self._compare(load, now)

    def _compare(self, load: Load, now: list[torch.Tensor]) -> None:
        likeness = [alike(a, b) for a, b in zip(now, load.values, strict=True)]

        def use(numbers: list[float]) -> None:
            fact = Overwritten(loaded_at=load.site, names=load.names, likeness=numbers)
            self.watcher.state(fact, site=load.written, module=load.path, phase="setup")

        self.watcher.read(torch.stack(likeness), use)


def alike(now: torch.Tensor, then: torch.Tensor) -> torch.Tensor:
    """The cosine of the two, where there is something now: a pruned weight is no other weight."""
    kept = now.abs() > 0.01 * now.abs().max()
    return torch.nn.functional.cosine_similarity(now * kept, then * kept, dim=0).abs()


def some_of(parameter: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        flat = parameter.detach().reshape(-1)
        return flat[:: -(-flat.numel() // ELEMENTS)].double().clone()
