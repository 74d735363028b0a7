"""Module outputs inside compiled graphs, on request.

What runs inside a graph can be seen by nobody but the graph itself. So an operation of our own is traced into it behind
each module, which hands the output to the statistics when this step is sampled and returns at once when it is not. The
compiler cannot look into it, so the graph does not break; and since it claims to write into a tensor, it is not left
out as having no effect.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import cache

import torch
from torch import nn

from paramedic.aliases import Function
from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program import anatomy

_Receive = Callable[[int, torch.Tensor], None]
_receiver: list[_Receive] = []  # the probe of this process; what was compiled for one that is gone calls nobody


@cache
def _note() -> Function:
    """The operation; torch lets a name be given only once."""

    def note(output: torch.Tensor, mailbox: torch.Tensor, place: int) -> None:
        if _receiver:
            _receiver[-1](place, output)

    operation = torch.library.custom_op("paramedic::note", note, mutates_args={"mailbox"})
    operation.register_fake(lambda output, mailbox, place: None)
    return operation


@probe("compiled_outputs")
class CompiledOutputs:
    """Puts the operation behind the modules that are about to be compiled."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._modules: list[weakref.ref[nn.Module]] = []
        self._hooked: weakref.WeakSet[nn.Module] = weakref.WeakSet()
        self._taken: set[int] = set()  # places whose output this step already has
        self._step = -1

    def install(self) -> None:
        _receiver.append(self._called)
        self.watcher.patches.on_undo(_receiver.clear)

    def _tell(self, name: str, output: torch.Tensor) -> None:
        self.watcher.bus.tell(moments.output_handed_over, name, output)

    @on(moments.about_to_compile)
    def about_to_compile(self, target: object) -> None:
        """torch.compile(target): a module, or a function that calls some."""
        if not self.watcher.settings.compiled_outputs:
            return
        roots = [target] if isinstance(target, nn.Module) else self.watcher.registry.roots()
        for module in [module for root in roots for module in anatomy.modules(root)]:
            if module not in self._hooked:
                self._hooked.add(module)
                self._modules.append(weakref.ref(module))
                module.register_forward_hook(_hook(len(self._modules) - 1, _home(module)))

    def _called(self, place: int, output: torch.Tensor) -> None:
        module = self._modules[place]()
        if not self.watcher.gears.sampling or module is None or not module.training or self.watcher.guard.busy:
            return
        if self.watcher.step != self._step:
            self._step, self._taken = self.watcher.step, set()
        name = self.watcher.registry.module_names().get(id(module))
        if place not in self._taken and name is not None:
            self._taken.add(place)
            # At once: a compiler reuses an output's memory as soon as its own operations need it no more.
            self.watcher.ask("statistics", self.watcher.guard.take_statistics, self._tell, name, output)


def _hook(place: int, mailbox: torch.Tensor) -> Callable[[nn.Module, object, object], None]:
    note = _note()

    def hook(module: nn.Module, args: object, output: object) -> None:
        if isinstance(output, torch.Tensor) and output.is_floating_point():
            note(output, mailbox, place)

    return hook


def _home(module: nn.Module) -> torch.Tensor:
    """On the module's own device: a tensor elsewhere would keep the compiler from using CUDA graphs."""
    parameter = next(anatomy.parameters(module), None)
    return torch.zeros((), device=parameter.device if parameter is not None else None)
