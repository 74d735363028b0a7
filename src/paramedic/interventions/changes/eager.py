"""Models as they were written where the script compiles them."""

from __future__ import annotations

from typing import Any

import torch

from paramedic.interventions.surroundings import Surroundings


def install(surroundings: Surroundings, argument: str) -> None:
    surroundings.reason = "the script does not use torch.compile"

    def as_it_is(original: Any) -> Any:
        def compile(model: Any = None, **options: Any) -> Any:
            surroundings.applied += 1
            return model if model is not None else (lambda function: function)

        return compile

    surroundings.replace(torch, "compile", as_it_is)
    surroundings.replace(torch.nn.Module, "compile", as_it_is)
