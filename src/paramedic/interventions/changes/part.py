"""One part of the model replaced by a linear map, skipped or left as it was built: `part=linear:encoder`.

Whatever else the model does stays. A part whose linear stand-in learns where the part itself does not is where the
fault lies; a part that can be skipped or left untrained without loss does nothing.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.optim import Optimizer

from paramedic.aliases import Function
from paramedic.interventions.changes.linear_model import Stand
from paramedic.interventions.roles import is_changeable
from paramedic.interventions.surroundings import Surroundings, is_trained


def install(surroundings: Surroundings, argument: str) -> None:
    kind, _, path = argument.partition(":")
    part = Part(surroundings, kind, path)
    surroundings.reason = f"the model has no part {path}, or it was not called"
    if kind == "linear":
        surroundings.needs_inputs_apart()
    surroundings.replace(nn.Module, "__call__", part.instead)
    surroundings.around_steps(part.before_step, part.after_step)


class Part:
    """The part is found when its model is called: the paths are those that the model has for its modules."""

    def __init__(self, surroundings: Surroundings, kind: str, path: str) -> None:
        self.surroundings, self.kind, self.path = surroundings, kind, path
        self.modules: dict[int, nn.Module] = {}
        self.searched: set[int] = set()
        self.stands: dict[int, Stand] = {}
        self.depth = 0

    def instead(self, original: Function) -> Function:
        def call(module: nn.Module, *args: object, **kwargs: object) -> object:
            if not self.depth and is_trained(module):
                self._search(module)
            self.depth += 1
            try:
                output = original(module, *args, **kwargs)
            finally:
                self.depth -= 1
            if id(module) not in self.modules or self.kind == "frozen" or not args:
                return output
            first = output[0] if isinstance(output, tuple) else output
            if not (isinstance(args[0], torch.Tensor) and is_changeable(first)):
                self.surroundings.reason = f"{self.path} does not turn one tensor into another"
                return output
            told = self._skipped(args[0], first) if self.kind == "skipped" else self._linear(module, args[0], first)
            return (told, *output[1:]) if isinstance(output, tuple) else told

        return call

    def _search(self, model: nn.Module) -> None:
        if id(model) in self.searched:
            return
        self.searched.add(id(model))
        found = dict(model.named_modules()).get(self.path)
        if found is not None:
            self.modules[id(found)] = found

    def _skipped(self, given: torch.Tensor, output: torch.Tensor) -> torch.Tensor:
        if given.shape != output.shape or not given.is_floating_point():
            self.surroundings.reason = f"what {self.path} gives has another shape than what it gets"
            return output
        self.surroundings.applied += 1
        return given

    def _linear(self, module: nn.Module, given: torch.Tensor, output: torch.Tensor) -> torch.Tensor:
        if id(module) not in self.stands:
            self.stands[id(module)] = Stand(given, output)
        self.surroundings.applied += 1
        return self.stands[id(module)](given, output)

    def before_step(self, optimizer: Optimizer) -> None:
        if self.kind == "frozen":
            for module in self.modules.values():
                for parameter in module.parameters():
                    self.surroundings.applied += parameter.grad is not None
                    parameter.grad = None

    def after_step(self, optimizer: Optimizer) -> None:
        for stand in self.stands.values():
            stand.learn()
