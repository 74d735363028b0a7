"""A torch model and its port to Keras, with the defaults and habits of Keras."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from benchmarks.parity.case import Made, Planted, ids, images, settled

os.environ.setdefault("KERAS_BACKEND", "torch")
import keras
from keras import layers

import paramedic


def cnn(*, stride: int = 1) -> nn.Module:
    torch.manual_seed(0)
    return settled(
        nn.Sequential(
            nn.Conv2d(3, 8, 3, stride=stride, padding=1), nn.BatchNorm2d(8), nn.LeakyReLU(0.01),
            nn.AvgPool2d(3, stride=2, padding=1), nn.Conv2d(8, 8, 1), nn.Flatten(),
            nn.Linear(8 * (4 // stride) ** 2, 6),
        )
    )  # fmt: skip


def cnn_port(*, eps: float = 1e-5, slope: float = 0.01, pool: str = "padded", stride: int = 1) -> Any:
    given = keras.Input((8, 8, 3))
    x = given
    if stride == 2 and pool == "right":
        x = layers.ZeroPadding2D(1)(x)
    padding = "valid" if stride == 2 and pool == "right" else "same"
    x = layers.Conv2D(8, 3, strides=stride, padding=padding, name="conv")(x)
    x = layers.BatchNormalization(epsilon=eps, name="bn")(x)
    x = layers.LeakyReLU(negative_slope=slope, name="act")(x)
    if pool == "same":
        x = layers.AveragePooling2D(3, strides=2, padding="same", name="pool")(x)
    else:
        x = layers.AveragePooling2D(3, strides=2, name="pool")(layers.ZeroPadding2D(1)(x))
    x = layers.Conv2D(8, 1, name="mix")(x)
    x = layers.Permute((3, 1, 2))(x)
    return keras.Model(given, layers.Dense(6, name="head")(layers.Flatten()(x)))


class Mixer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.gru = nn.Embedding(30, 8), nn.GRU(8, 8, batch_first=True)
        self.norm, self.fc, self.head = nn.LayerNorm(8), nn.Linear(8, 8), nn.Linear(8, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.norm(self.gru(self.embedding(x))[0])
        return self.head(nn.functional.gelu(self.fc(x)))


def mixer_port(*, eps: float = 1e-5, activation: str = "gelu", residual: bool = False) -> Any:
    given = keras.Input((9,), dtype="int32")
    x = layers.Embedding(30, 8)(given)
    x = layers.GRU(8, return_sequences=True, name="gru")(x)
    x = layers.LayerNormalization(epsilon=eps, name="norm")(x)
    x = layers.Dense(8, activation=activation, name="fc")(x)
    return keras.Model(given, layers.Dense(3, name="head")(x))


def ported(
    make: Callable[[], nn.Module],
    port: Callable[[], Any],
    inputs: torch.Tensor,
    spoil: Callable[[Any], None] | None = None,
) -> Callable[[], Made]:
    def made() -> Made:
        torch.manual_seed(0)
        model = settled(make())
        other = port()
        paramedic.copy_weights(model, other)
        if spoil is not None:
            spoil(other)
        return model, other, inputs

    return made


def _gates(model: Any) -> None:
    import numpy as np

    layer = model.get_layer("gru")
    layer.set_weights([np.concatenate([np.split(w, 3, -1)[i] for i in (1, 0, 2)], -1) for w in layer.get_weights()])


def _transposed(model: Any) -> None:
    layer = model.get_layer("fc")
    kernel, bias = layer.get_weights()
    layer.set_weights([kernel.T, bias])


def planted() -> list[Planted]:
    rows: list[tuple[str, str, Callable[[], Made], tuple[str, ...], tuple[str, ...]]] = [
        ("BatchNorm eps default", "cnn", ported(cnn, lambda: cnn_port(eps=1e-3), images()), ("bn",), ("eps",)),
        ("LeakyReLU slope default", "cnn", ported(cnn, lambda: cnn_port(slope=0.3), images()), ("act",), ("slope",)),
        ("average at the border", "cnn", ported(cnn, lambda: cnn_port(pool="same"), images()),
         ("pool",), ("pad|count",)),
        ("SAME with stride 2", "cnn", ported(lambda: cnn(stride=2), lambda: cnn_port(stride=2), images()),
         ("conv",), ("padding",)),
        ("LayerNorm eps default", "mixer", ported(Mixer, lambda: mixer_port(eps=1e-3), ids(30)), ("norm",), ("eps",)),
        ("GRU gates not reordered", "mixer", ported(Mixer, mixer_port, ids(30), _gates), ("gru",), ("gates",)),
        ("kernel not transposed", "mixer", ported(Mixer, mixer_port, ids(30), _transposed), ("fc",), ("transposed",)),
        ("relu for gelu", "mixer", ported(Mixer, lambda: mixer_port(activation="relu"), ids(30)),
         ("", "fc/relu"), ("relu|gelu",)),
    ]  # fmt: skip
    return [
        Planted(name=n, architecture=a, pair="torch–Keras", make=m, layers=where, cause=c) for n, a, m, where, c in rows
    ]
