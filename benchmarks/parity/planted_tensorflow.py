"""A torch model and a TensorFlow SavedModel of it that is not quite right."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from benchmarks.parity.case import Made, Planted, images, settled

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import tensorflow as tf


def picture() -> nn.Module:
    torch.manual_seed(0)
    return settled(
        nn.Sequential(
            nn.Conv2d(3, 5, 3, stride=2, padding=1), nn.BatchNorm2d(5), nn.LeakyReLU(0.1), nn.Flatten(),
            nn.Linear(80, 16), nn.GELU(), nn.Linear(16, 16), nn.Softmax(1),
        )
    )  # fmt: skip


class Port(tf.Module):
    def __init__(self, model: nn.Module, *, eps: float, same: bool, slope: float, tanh: bool, turned: bool) -> None:
        super().__init__()
        self.eps, self.same, self.slope, self.tanh = eps, same, slope, tanh
        self.held = {name.replace(".", "_"): self._variable(value) for name, value in model.state_dict().items()}
        if turned:
            self.held["6_weight"].assign(tf.transpose(self.held["6_weight"]))

    @staticmethod
    def _variable(value: torch.Tensor) -> Any:
        return tf.Variable((value.permute(2, 3, 1, 0) if value.dim() == 4 else value).contiguous().numpy())

    @tf.function(input_signature=[tf.TensorSpec([None, 8, 8, 3], name="x")])
    def __call__(self, x: Any) -> Any:
        held = self.held
        around = "SAME" if self.same else [[0, 0], [1, 1], [1, 1], [0, 0]]
        x = tf.nn.conv2d(x, held["0_weight"], 2, around) + held["0_bias"]
        norm = [held[f"1_{name}"] for name in ("weight", "bias", "running_mean", "running_var")]
        x = tf.compat.v1.nn.fused_batch_norm(x, *norm, epsilon=self.eps, is_training=False)[0]
        x = tf.reshape(tf.transpose(tf.nn.leaky_relu(x, self.slope), [0, 3, 1, 2]), [-1, 80])
        x = tf.nn.gelu(tf.matmul(x, held["4_weight"], transpose_b=True) + held["4_bias"], approximate=self.tanh)
        return tf.nn.softmax(tf.matmul(x, held["6_weight"], transpose_b=True) + held["6_bias"])


def saved(**fault: Any) -> Callable[[], Made]:
    def made() -> Made:
        model = picture()
        right = {"eps": 1e-5, "same": False, "slope": 0.1, "tanh": False, "turned": False}
        folder = tempfile.mkdtemp()
        tf.saved_model.save(Port(model, **{**right, **fault}), folder)
        return model, folder, images()

    return made


def planted() -> list[Planted]:
    rows: list[tuple[str, Callable[[], Made], tuple[str, ...], tuple[str, ...]]] = [
        ("BatchNorm eps", saved(eps=1e-3), ("1",), ("eps",)),
        ("SAME padding", saved(same=True), ("0",), ("padding",)),
        ("LeakyReLU slope", saved(slope=0.2), ("2",), ("slope",)),
        ("tanh GELU", saved(tanh=True), ("5",), ("approximate",)),
        ("weight transposed", saved(turned=True), ("6",), ("transposed",)),
    ]
    return [
        Planted(name=n, architecture="picture", pair="torch–SavedModel", make=m, layers=where, cause=c)
        for n, m, where, c in rows
    ]
