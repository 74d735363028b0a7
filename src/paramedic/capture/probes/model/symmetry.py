"""Weights that begin alike: rows of a matrix that are all the same, and whether their gradients are the same too."""

from __future__ import annotations

import weakref
from collections import Counter

import torch
from torch import nn
from torch.optim import Optimizer

from paramedic.aliases import Function
from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.facts import readable
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program.where import user_site
from paramedic.record import facts
from paramedic.record.writer import NOWHERE, Site

LOOKS = 8  # examined steps of each optimizer
MOST_VALUES = 1_000_000  # of a larger matrix only the first rows are compared
ALIKE = 1e-5  # relative to the largest value: rounding may differ from row to row

_INITS = ("zeros_", "ones_", "constant_", "eye_")


@probe("symmetry", states=[facts.Symmetry])
class Symmetry:
    """Looks at the matrices of the first steps, right before the optimizer changes them."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._looks: Counter[int] = Counter()
        self._sites: dict[int, tuple[weakref.ref[torch.Tensor], Site]] = {}

    def install(self) -> None:
        def watched_init(original: Function) -> Function:
            def init(tensor: torch.Tensor, *args: object, **kwargs: object) -> object:
                result = original(tensor, *args, **kwargs)
                self.watcher.ask("symmetry", self._made, tensor)
                return result

            return init

        for name in _INITS:
            self.watcher.patches.wrap(nn.init, name, watched_init)
        hook = torch.nn.modules.module.register_module_parameter_registration_hook(self._registered)
        self.watcher.patches.on_undo(hook.remove)

    def _registered(self, module: nn.Module, name: str, parameter: torch.Tensor) -> None:
        self.watcher.ask("symmetry", self._made, parameter)

    def _made(self, tensor: object) -> None:
        if isinstance(tensor, torch.Tensor) and tensor.dim() > 1:
            known, site = self._sites.get(id(tensor)), user_site()
            # torch's own layers initialise themselves in the line that builds them.
            if site.file or known is None or known[0]() is not tensor:
                self._sites[id(tensor)] = (weakref.ref(tensor), site)

    @on(moments.step_examined)
    def about_to_step(self, optimizer: Optimizer, number: int, closure: bool) -> None:
        self._looks[number] += 1
        if self._looks[number] <= LOOKS:
            with torch.no_grad():
                self._look([p for group in optimizer.param_groups for p in group["params"]], number)

    def _look(self, parameters: list[torch.Tensor], number: int) -> None:
        matrices = [p for p in parameters if p.requires_grad and p.dim() > 1 and len(p) > 1 and readable(p)]
        matrices = [p for p in matrices if p.grad is not None and readable(p.grad)]
        if not matrices:
            return
        names = [self.watcher.registry.parameter_name(p) for p in matrices]
        sites, rows = [self._site(p) for p in matrices], [len(p) for p in matrices]
        step, device = self.watcher.step, matrices[0].device
        numbers = torch.stack([_facts(p).to(device) for p in matrices]).reshape(-1)

        def use(found: list[float]) -> None:
            for index, name in enumerate(names):
                alike, zero, gradient_alike, gradient_zero = (bool(n) for n in found[4 * index : 4 * index + 4])
                if alike or zero:
                    data = facts.Symmetry(
                        optimizer=number,
                        name=name,
                        rows=rows[index],
                        zero=zero,
                        gradient_alike=gradient_alike,
                        gradient_zero=gradient_zero,
                        made_at=sites[index],
                    )
                    self.watcher.state(data, phase="train", step=step)

        self.watcher.read(numbers, use)

    def _site(self, parameter: torch.Tensor) -> Site:
        known = self._sites.get(id(parameter))
        return known[1] if known is not None and known[0]() is parameter else NOWHERE


def _facts(p: torch.Tensor) -> torch.Tensor:
    """Weight: rows alike, all zero; gradient: rows alike, all zero."""
    assert p.grad is not None
    facts = []
    for tensor in (p.detach(), p.grad.detach()):
        rows = tensor[: max(2, MOST_VALUES * len(tensor) // tensor.numel())]
        largest = rows.abs().max()
        alike = (rows - rows[:1]).abs().max() <= ALIKE * largest
        facts += [alike.float(), (largest == 0).float()]
    return torch.stack(facts)
