"""Random draws as one side made them, made again wherever the same computation is done: masks of dropout, noise."""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import TorchFunctionMode

DRAWS = {
    "bernoulli", "bernoulli_", "rand", "rand_like", "randn", "randn_like", "randint", "randint_like", "normal",
    "normal_", "uniform_", "exponential_", "multinomial", "randperm", "random_", "log_normal_", "geometric_", "cauchy_",
    "poisson", "binomial", "rrelu", "rrelu_", "dropout", "dropout_", "dropout1d", "dropout2d", "dropout3d",
    "alpha_dropout", "feature_alpha_dropout", "feature_dropout", "gumbel_softmax", "multi_head_attention_forward",
    "scaled_dot_product_attention", "lstm", "gru", "rnn_tanh", "rnn_relu", "fractional_max_pool2d",
}  # fmt: skip


class Tape:
    """The state of the generator before each draw, in order; `position` is the next draw."""

    def __init__(self) -> None:
        self.states: list[torch.Tensor] = []
        self.position = 0
        self.recorded = False


class Draws(TorchFunctionMode):
    """Records on an empty tape. Afterwards the n-th draw starts from the state that the n-th had, on either side."""

    def __init__(self, tape: Tape) -> None:
        super().__init__()
        self.tape = tape

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(func, "__name__", "") in DRAWS:
            if not self.tape.recorded:
                self.tape.states.append(torch.get_rng_state())
            elif self.tape.position < len(self.tape.states):
                torch.set_rng_state(self.tape.states[self.tape.position])
            self.tape.position += 1
        return func(*args, **(kwargs or {}))
