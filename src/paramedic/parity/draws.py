"""Random draws as one side made them, injected wherever the same computation is done again."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

DRAWS = {
    "bernoulli", "bernoulli_", "rand", "rand_like", "randn", "randn_like", "randint", "randint_like", "normal",
    "normal_", "uniform_", "exponential_", "multinomial", "randperm", "random_", "log_normal_",
    "geometric_", "cauchy_", "poisson", "binomial", "rrelu_with_noise", "_standard_gamma",
}  # fmt: skip


class Tape:
    """What was drawn, in order; `position` is the next draw to be given."""

    def __init__(self) -> None:
        self.values: list[tuple[torch.Tensor, ...]] = []
        self.position = 0
        self.recorded = False
        self.missed: list[str] = []  # draws that the tape had no counterpart for


class Draws(TorchDispatchMode):
    """Records on an empty tape; afterwards gives what is on it, as long as the shapes are the same."""

    def __init__(self, tape: Tape) -> None:
        super().__init__()
        self.tape = tape

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = func._schema.name.removeprefix("aten::")
        if name not in DRAWS:
            return func(*args, **kwargs)
        result = func(*args, **kwargs)
        parts = result if isinstance(result, tuple) else (result,)
        if not self.tape.recorded:
            self.tape.values.append(tuple(part.detach().cpu().clone() for part in parts))
            self.tape.position += 1
            return result
        known = self.tape.values[self.tape.position] if self.tape.position < len(self.tape.values) else ()
        if [part.shape for part in known] != [part.shape for part in parts]:
            self.tape.missed.append(f"{name}{tuple(parts[0].shape)}")
            return result
        self.tape.position += 1
        for part, value in zip(parts, known, strict=True):
            part.copy_(value)
        return result
