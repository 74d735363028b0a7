"""A torch model and its port to Flax, with the defaults of JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flax.linen as fnn
import numpy as np
import torch
from torch import nn

import paramedic
from benchmarks.parity.case import Made, Planted, images, settled


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.fc1, self.norm = nn.Conv2d(3, 4, 3), nn.Linear(144, 16), nn.LayerNorm(16)
        self.fc2, self.head = nn.Linear(16, 16), nn.Linear(16, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.conv(x)).flatten(1)
        x = self.norm(self.fc1(x))
        return self.head(nn.functional.gelu(self.fc2(x)))


class Port(fnn.Module):
    eps: float = 1e-5
    tanh: bool = False
    padding: str = "VALID"
    last: bool = False

    @fnn.compact
    def __call__(self, x: Any) -> Any:
        x = fnn.relu(fnn.Conv(4, (3, 3), padding=self.padding, name="conv")(x))
        x = x[:, :6, :6]
        x = (x if self.last else x.transpose(0, 3, 1, 2)).reshape(x.shape[0], -1)
        x = fnn.LayerNorm(epsilon=self.eps, name="norm")(fnn.Dense(16, name="fc1")(x))
        x = fnn.gelu(fnn.Dense(16, name="fc2")(x), approximate=self.tanh)
        return fnn.Dense(4, name="head")(x)


def ported(spoil: Callable[[Any], None] | None = None, **settings: Any) -> Callable[[], Made]:
    def made() -> Made:
        import jax

        torch.manual_seed(0)
        model, module = settled(Net()), Port(**settings)
        shown = module.init(jax.random.key(0), np.zeros((1, 8, 8, 3), np.float32))
        variables = jax.tree.map(np.array, shown)
        paramedic.copy_weights(model, variables)
        if spoil is not None:
            spoil(variables["params"])
        return model, (module, variables), images()

    return made


def _transposed(params: Any) -> None:
    params["fc2"]["kernel"] = params["fc2"]["kernel"].T.copy()


def _scaled(params: Any) -> None:
    params["norm"]["scale"] = params["norm"]["scale"] - 1  # stored as 1 + scale


def planted() -> list[Planted]:
    rows: list[tuple[str, Callable[[], Made], tuple[str, ...], tuple[str, ...]]] = [
        ("LayerNorm eps default", ported(eps=1e-6), ("norm",), ("eps",)),
        ("tanh GELU default", ported(tanh=True), ("",), ("approximate",)),
        ("SAME padding default", ported(padding="SAME"), ("conv",), ("padding",)),
        ("flattened channels last", ported(last=True), ("fc1",), ("flattened",)),
        ("kernel not transposed", ported(_transposed), ("fc2",), ("transposed",)),
        ("scale stored minus one", ported(_scaled), ("norm",), ("weight",)),
    ]
    return [
        Planted(name=n, architecture="port", pair="torch–Flax", make=m, layers=where, cause=c)
        for n, m, where, c in rows
    ]
