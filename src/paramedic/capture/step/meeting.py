"""Where in the user's code a target and the model's answers meet, and where that becomes a number."""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from paramedic.capture.step.step import Step
from paramedic.program.tensors import tensors_in
from paramedic.program.where import user_site


class _Meeting(TorchFunctionMode):
    """Follows what is computed from a target. What requires a gradient is computed from the answers."""

    def __init__(self, target: torch.Tensor) -> None:
        super().__init__()
        self.met_at: list[object] | None = None
        self.number_at: list[object] | None = None
        self._of_target, self._of_both = {id(target)}, set[int]()
        self._alive: list[torch.Tensor] = []  # or their identities would be given to others

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        given = [tensor for _, tensor in tensors_in((args, kwargs or {}))]
        of_target = any(id(tensor) in self._of_target for tensor in given)
        together = of_target and any(tensor.requires_grad for tensor in given)
        if not (of_target or any(id(tensor) in self._of_both for tensor in given)):
            return result
        both = together or not of_target or any(id(tensor) in self._of_both for tensor in given)
        made = [tensor for _, tensor in tensors_in(result)]
        self._alive += made
        (self._of_both if both else self._of_target).update(map(id, made))
        if both and self.met_at is None:
            self.met_at = list(user_site())
        if both and self.number_at is None and any(tensor.dim() == 0 for tensor in made):
            self.number_at = list(user_site())
        return result


def meeting(step: Step, name: str) -> dict[str, object]:
    """The line on which they meet, and the first on which the result is a single number."""
    with _Meeting(step.data[name]) as seen:
        step.loss([answer.detach().clone().requires_grad_() for answer in step.answers])
    return {"met_at": seen.met_at, "number_at": seen.number_at}
