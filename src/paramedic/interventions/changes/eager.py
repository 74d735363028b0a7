"""Models as they were written where the script compiles them."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from paramedic.aliases import Function
from paramedic.interventions.surroundings import Surroundings


def install(surroundings: Surroundings, argument: str) -> None:
    surroundings.reason = "the script does not use torch.compile"

    def as_it_is(original: Function) -> Function:
        def compile(model: nn.Module | None = None, **options: object) -> Any:
            surroundings.applied += 1
            return model if model is not None else (lambda function: function)

        return compile

    surroundings.replace(torch, "compile", as_it_is)
    surroundings.replace(torch.nn.Module, "compile", as_it_is)
