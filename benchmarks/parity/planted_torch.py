"""A torch model and the same after a refactoring that went wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from benchmarks.parity.case import Made, Planted, ids, images, padded, twins
from benchmarks.parity.nets import Cnn, Encoder, Gpt, Llama, ResNet, Tagger, UNet


def coded(make: Callable[..., nn.Module], inputs: torch.Tensor, **fault: Any) -> Callable[[], Made]:
    """The fault is in the code of b."""
    return lambda: (*twins(make, **fault), inputs)


def stored(make: Callable[..., nn.Module], inputs: torch.Tensor, change: Callable[[Any], None]) -> Callable[[], Made]:
    """The fault is in the weights of b."""

    def made() -> Made:
        good, bad = twins(make)
        with torch.no_grad():
            change(bad)
        return good, bad, inputs

    return made


def _gates(model: Any) -> None:
    for weight in (model.lstm.weight_ih_l0, model.lstm.weight_hh_l0, model.lstm.bias_ih_l0, model.lstm.bias_hh_l0):
        i, f, g, o = weight.chunk(4)
        weight.copy_(torch.cat([i, g, f, o]))  # the order of TensorFlow 1


def _thirds(model: Any) -> None:
    for weight in (model.attention.in_proj_weight, model.attention.in_proj_bias):
        q, k, v = weight.chunk(3)
        weight.copy_(torch.cat([k, q, v]))


PLANTED = [
    ("BatchNorm eps", "cnn", coded(Cnn, images(), eps=1e-3), ("bn2",), ("eps",)),
    ("padding mode", "cnn", coded(Cnn, images(), mode="reflect"), ("conv2",), ("padding_mode|reflect",)),
    ("mean for max pooling", "cnn", coded(Cnn, images(), pool="mean"), ("pool",), ("MaxPool2d", "AvgPool2d")),
    ("kernel transposed", "cnn", stored(Cnn, images(), lambda m: m.conv2.weight.copy_(m.conv2.weight.mT.clone())),
     ("conv2",), ("axes swapped",)),
    ("kernel flipped", "cnn", stored(Cnn, images(), lambda m: m.conv1.weight.copy_(m.conv1.weight.flip(3))),
     ("conv1",), ("reversed",)),
    ("missing residual", "resnet", coded(ResNet, images(), residual=False), ("blocks.2",), ("residual|add",)),
    ("wrong sign of the branch", "resnet", coded(ResNet, images(), sign=-1.0), ("blocks.2",), ("add", "sub")),
    ("activation before the sum", "resnet", coded(ResNet, images(), late=True), ("blocks.2",), ("relu|order",)),
    ("asymmetric padding", "resnet", coded(ResNet, images(), asymmetric=True), ("", "stem"), ("pad",)),
    ("variance unbiased", "resnet",
     stored(ResNet, images(), lambda m: m.blocks[1].bn1.running_var.mul_(128 / 127)), ("blocks.1.bn1",), ("scaled",)),
    ("tanh GELU", "gpt", coded(Gpt, ids(50), fault="gelu"), ("blocks.1",), ("approximate",)),
    ("LayerNorm eps", "gpt", coded(Gpt, ids(50), fault="eps"), ("blocks.1.norm1",), ("eps",)),
    ("scale of the scores", "gpt", coded(Gpt, ids(50), fault="scale"), ("blocks.1",), ("div",)),
    ("mask off by one", "gpt", coded(Gpt, ids(50), fault="diagonal"), ("blocks.1",), ("tril",)),
    ("mask inverted", "gpt", coded(Gpt, ids(50), fault="inverted"), ("blocks.1",), ("invert",)),
    ("softmax over queries", "gpt", coded(Gpt, ids(50), fault="softmax"), ("blocks.1",), ("softmax",)),
    ("embeddings scaled", "gpt", coded(Gpt, ids(50), fault="embedding"), ("",), ("mul|4",)),
    ("positions shifted", "gpt", coded(Gpt, ids(50), fault="position"), ("", "positions"), ("add|1",)),
    ("padding mask inverted", "encoder", coded(Encoder, padded(40), fault="mask"), ("", "attention"), ("invert",)),
    ("thirds of qkv swapped", "encoder", stored(Encoder, padded(40), _thirds), ("attention",), ("thirds|order",)),
    ("number of heads", "encoder", coded(Encoder, padded(40), heads=2), ("attention",), ("head",)),
    ("sign of a weight", "encoder", stored(Encoder, padded(40), lambda m: m.feed[2].weight.neg_()),
     ("feed.2",), ("sign",)),
    ("missing residual", "encoder", coded(Encoder, padded(40), fault="residual"), ("",), ("residual|add",)),
    ("gates of TensorFlow 1", "tagger", stored(Tagger, ids(30), _gates), ("lstm",), ("gates",)),
    ("sequence reversed", "tagger", coded(Tagger, ids(30), fault="reversed"), ("", "lstm"), ("flip|revers",)),
    ("rows of the head permuted", "tagger",
     stored(Tagger, ids(30), lambda m: m.head.weight.copy_(m.head.weight.roll(1, 0))),
     ("head",), ("order|rolled",)),
    ("align_corners", "unet", coded(UNet, images(1), align=True), ("up",), ("align_corners",)),
    ("channels concatenated the other way", "unet", coded(UNet, images(1), swapped=True),
     ("", "merge"), ("cat|order",)),
    ("missing sigmoid", "unet", coded(UNet, images(1), sigmoid=False), ("",), ("sigmoid",)),
    ("interleaved rotary positions", "llama", coded(Llama, ids(40), fault="rope"),
     ("",), ("stack|flatten|cat|getitem",)),
    ("1 + weight", "llama", coded(Llama, ids(40), fault="plus"), ("norm2",), ("add|plus|mul",)),
    ("gelu for silu", "llama", coded(Llama, ids(40), fault="gate"), ("",), ("gelu", "silu")),
    ("not causal", "llama", coded(Llama, ids(40), fault="causal"), ("",), ("is_causal",)),
]  # fmt: skip


def planted() -> list[Planted]:
    return [
        Planted(name=name, architecture=architecture, pair="torch–torch", make=make, layers=layers, cause=cause)
        for name, architecture, make, layers, cause in PLANTED
    ]
