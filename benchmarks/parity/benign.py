"""Refactorings that change nothing but the rounding. None may be called a difference."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from benchmarks.parity.case import Made, ids, images, settled, twins
from benchmarks.parity.nets import Cnn, Encoder, Gpt, GptBlock, Llama, ResNet, Tagger


class FusedBlock(GptBlock):
    """Attention by torch's own function, GELU and LayerNorm by hand."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        _batch, _length, _width = x.shape
        centred = x - x.mean(-1, keepdim=True)
        normed = centred / torch.sqrt(centred.pow(2).mean(-1, keepdim=True) + self.norm1.eps)
        q, k, v = self.qkv(normed * self.norm1.weight + self.norm1.bias).chunk(3, -1)
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in (q, k, v))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
        x = self.out(mixed) + x
        h = self.fc1(self.norm2(x))
        h = 0.5 * h * (1 + torch.erf(h / math.sqrt(2)))
        return self.fc2(h) + x


class Wrapped(nn.Module):
    """The same layers one level deeper."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.model = nn.Sequential(nn.Sequential(inner))

    def forward(self, *args: Any) -> Any:
        return self.model[0][0](*args)


class Folded(nn.Module):
    """BatchNorm folded into the convolution before it."""

    def __init__(self, cnn: Cnn) -> None:
        super().__init__()
        self.first = torch.nn.utils.fusion.fuse_conv_bn_eval(cnn.conv1, cnn.bn1)
        self.second = torch.nn.utils.fusion.fuse_conv_bn_eval(cnn.conv2, cnn.bn2)
        self.pool, self.head = cnn.pool, cnn.head

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(F.relu(self.second(self.pool(F.relu(self.first(x))))).flatten(1))


class ByHand(nn.Module):
    """Products by einsum, silu written out, the branches in another order."""

    def __init__(self, llama: Llama) -> None:
        super().__init__()
        self.inner = llama

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        m = self.inner
        x = F.embedding(ids, m.tokens.weight)
        h = m.norm1(x)
        v, k, q = (torch.einsum("bti,oi->bto", h, part.weight) for part in (m.v, m.k, m.q))
        q, k, v = (part.unflatten(-1, (2, 8)).transpose(1, 2) for part in (q, k, v))
        scores = torch.einsum("bhqd,bhkd->bhqk", m.rotated(q), m.rotated(k)) * 8**-0.5
        hidden = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        mixed = torch.einsum("bhqk,bhkd->bhqd", scores.masked_fill(hidden, -math.inf).softmax(-1), v)
        x = m.o(mixed.transpose(1, 2).flatten(2)) + x
        h = m.norm2(x)
        up, gate = m.up(h), m.gate(h)
        return m.head(x + m.down(up * (gate * torch.sigmoid(gate))))


class SplitEncoder(nn.Module):
    """MultiheadAttention as four linear layers."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.embedding, self.norm, self.feed, self.head = encoder.embedding, encoder.norm, encoder.feed, encoder.head
        self.q, self.k, self.v, self.o = (nn.Linear(16, 16) for _ in range(4))
        weight, bias = encoder.attention.in_proj_weight.chunk(3), encoder.attention.in_proj_bias.chunk(3)
        for layer, w, b in zip((self.q, self.k, self.v), weight, bias, strict=True):
            layer.load_state_dict({"weight": w, "bias": b})
        self.o.load_state_dict(encoder.attention.out_proj.state_dict())

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.embedding(ids)
        q, k, v = (part(x).unflatten(-1, (4, 4)).transpose(1, 2) for part in (self.q, self.k, self.v))
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=(ids != 0)[:, None, None])
        x = self.norm(x + self.o(mixed.transpose(1, 2).flatten(2)))
        x = x + self.feed(x)
        kept = (ids != 0).unsqueeze(-1).to(x.dtype)
        return self.head((x * kept).sum(1) / kept.sum(1))


def fresh(make: Callable[[], nn.Module], change: Callable[[Any], nn.Module]) -> tuple[nn.Module, nn.Module]:
    good, twin = twins(make)
    return good, change(twin).eval()


def _fused(gpt: Any) -> nn.Module:
    for number, block in enumerate(gpt.blocks):
        new = FusedBlock(16, 4)
        new.load_state_dict(block.state_dict())
        gpt.blocks[number] = new
    return gpt


def _inplace(model: Any) -> nn.Module:
    model.feed[1] = nn.ReLU(inplace=True)
    return model


def _channels_last(model: Any) -> nn.Module:
    return model.to(memory_format=torch.channels_last)


def _onnx() -> Made:
    from benchmarks.parity.planted_onnx import exported, head

    model = head()
    return model, exported(model, images()), images()


def _onnx_lstm() -> Made:
    from benchmarks.parity.planted_onnx import exported

    torch.manual_seed(0)
    model = settled(Tagger())
    return model, exported(model, ids(30)), ids(30)


def _keras() -> Made:
    from benchmarks.parity.planted_keras import cnn, cnn_port, ported

    return ported(cnn, cnn_port, images())()


def _flax() -> Made:
    from benchmarks.parity.planted_flax import ported

    return ported()()


BENIGN: dict[str, Callable[[], Made]] = {
    "fused attention, LayerNorm and GELU by hand": lambda: (*fresh(Gpt, _fused), ids(50)),
    "wrapped in two Sequentials": lambda: (*fresh(ResNet, Wrapped), images()),
    "BatchNorm folded into convolutions": lambda: (*fresh(Cnn, Folded), images()),
    "einsum, silu by hand, another order": lambda: (*fresh(Llama, ByHand), ids(40)),
    "attention as four linear layers": lambda: (*fresh(Encoder, SplitEncoder), ids(40)),
    "ReLU in place": lambda: (*fresh(Encoder, _inplace), ids(40)),
    "channels last in memory": lambda: (*fresh(Cnn, _channels_last), images()),
    "LSTM wrapped": lambda: (*fresh(Tagger, Wrapped), ids(30)),
    "ONNX export": _onnx,
    "ONNX export of LSTM and GRU": _onnx_lstm,
    "Keras port": _keras,
    "Flax port": _flax,
}
