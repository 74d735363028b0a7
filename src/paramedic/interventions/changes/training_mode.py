"""Evaluation in training mode: eval() has no effect on a model that has been trained."""

from __future__ import annotations

from torch import nn
from torch.nn.modules.batchnorm import _NormBase
from torch.nn.modules.dropout import _DropoutNd
from torch.optim import Optimizer

from paramedic.aliases import Function
from paramedic.interventions.surroundings import Surroundings


def install(surroundings: Surroundings, argument: str) -> None:
    surroundings.reason = "the model is never evaluated, or nothing in it differs between training and evaluation"
    surroundings.patience = None
    trained: set[int] = set()

    def stepped(optimizer: Optimizer) -> None:
        trained.update(id(parameter) for group in optimizer.param_groups for parameter in group["params"])

    def stay(original: Function) -> Function:
        def train(module: nn.Module, mode: bool = True) -> object:
            if mode or not any(id(parameter) in trained for parameter in module.parameters()):
                return original(module, mode)
            surroundings.applied += any(isinstance(part, _NormBase | _DropoutNd) for part in module.modules())
            return module

        return train

    surroundings.around_steps(lambda optimizer: None, stepped)
    surroundings.replace(nn.Module, "train", stay)
