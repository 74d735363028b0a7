"""The architectures: small, and each in a second version where one thing is done differently."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn


class Cnn(nn.Module):
    """Convolutions, BatchNorm, pooling, a classifier."""

    def __init__(self, *, eps: float = 1e-5, padding: Any = 1, pool: str = "max", mode: str = "zeros") -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(8)
        self.conv2 = nn.Conv2d(8, 8, 3, padding=padding, padding_mode=mode)
        self.bn2 = nn.BatchNorm2d(8, eps=eps)
        self.pool = nn.MaxPool2d(2) if pool == "max" else nn.AvgPool2d(2)
        self.head = nn.Linear(8 * 4 * 4, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.pool(F.relu(self.bn1(self.conv1(x))))
        x = F.relu(self.bn2(self.conv2(x)))
        return self.head(x.flatten(1))


class ResBlock(nn.Module):
    def __init__(self, width: int, *, residual: bool = True, sign: float = 1.0, late: bool = False) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self._kind = (residual, sign, late)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        usual, bare, minus = (True, 1.0, False), (False, 1.0, False), (True, -1.0, False)
        ways = {usual: self.usual, bare: self.bare, minus: self.minus}
        return ways.get(self._kind, self.after)(x)

    def inner(self, x: torch.Tensor) -> torch.Tensor:
        return self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))

    def usual(self, x: torch.Tensor) -> torch.Tensor:
        return F.relu(x + self.inner(x))

    def bare(self, x: torch.Tensor) -> torch.Tensor:
        return F.relu(self.inner(x))

    def minus(self, x: torch.Tensor) -> torch.Tensor:
        return F.relu(x - self.inner(x))

    def after(self, x: torch.Tensor) -> torch.Tensor:
        return x + F.relu(self.inner(x))


class ResNet(nn.Module):
    """Three residual blocks; `third` are the settings of the last."""

    def __init__(self, *, asymmetric: bool = False, **third: Any) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, stride=2, padding=0 if asymmetric else 1)
        self._asymmetric = asymmetric
        self.blocks = nn.Sequential(ResBlock(8), ResBlock(8), ResBlock(8, **third))
        self.head = nn.Linear(8, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self._asymmetric:
            x = F.pad(x, (0, 1, 0, 1))
        return self.head(self.blocks(self.stem(x)).mean((2, 3)))


class GptBlock(nn.Module):
    def __init__(self, width: int, heads: int, *, fault: str = "") -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(width, eps=1e-6 if fault == "eps" else 1e-5)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.fc1, self.fc2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.heads = heads
        self._fault = fault

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        given = x if self._fault == "no-norm" else self.norm1(x)
        parts = self.qkv(given).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        q, k, v = parts
        size = q.shape[-1]
        scores = q @ k.transpose(-1, -2) / (size if self._fault == "scale" else math.sqrt(size))
        allowed = torch.ones(length, length, dtype=torch.bool).tril(-1 if self._fault == "diagonal" else 0)
        if self._fault == "diagonal":
            allowed[0, 0] = True
        if self._fault == "inverted":
            allowed = ~allowed | torch.eye(length, dtype=torch.bool)
        weights = scores.masked_fill(~allowed, float("-inf")).softmax(-2 if self._fault == "softmax" else -1)
        if self._fault == "softmax":
            weights = weights.nan_to_num()
        x = x + self.out((weights @ v).transpose(1, 2).reshape(batch, length, width))
        h = F.gelu(self.fc1(self.norm2(x)), approximate="tanh" if self._fault == "gelu" else "none")
        return x + self.fc2(h)


class Gpt(nn.Module):
    """A causal language model with learned positions; the fault is in block 1, or in the model's own lines."""

    def __init__(self, *, fault: str = "") -> None:
        super().__init__()
        self.tokens, self.positions = nn.Embedding(50, 16), nn.Embedding(32, 16)
        self.blocks = nn.ModuleList(GptBlock(16, 4, fault=fault if i == 1 else "") for i in range(3))
        self.norm = nn.LayerNorm(16)
        self.head = nn.Linear(16, 50, bias=False)
        self._fault = fault

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        places = torch.arange(ids.shape[1]) + (1 if self._fault == "position" else 0)
        x = self.tokens(ids) + self.positions(places)
        if self._fault == "embedding":
            x = x * math.sqrt(16)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class Encoder(nn.Module):
    """nn.MultiheadAttention with a padding mask."""

    def __init__(self, *, fault: str = "", heads: int = 4) -> None:
        super().__init__()
        self.embedding = nn.Embedding(40, 16)
        self.attention = nn.MultiheadAttention(16, heads, batch_first=True)
        self.norm = nn.LayerNorm(16)
        self.feed = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 16))
        self.head = nn.Linear(16, 3)
        self._fault = fault

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        padding = ids == 0
        x = self.embedding(ids)
        mask = ~padding if self._fault == "mask" else padding
        attended, _ = self.attention(x, x, x, key_padding_mask=mask)
        x = self.norm(x + attended)
        x = self.feed(x) if self._fault == "residual" else x + self.feed(x)
        kept = (~padding).unsqueeze(-1).to(x.dtype)
        total = (
            x.sum(1) / (ids.shape[1] if self._fault == "mean" else kept.sum(1))
            if self._fault == "mean"
            else ((x * kept).sum(1) / kept.sum(1))
        )
        return self.head(total)


class Tagger(nn.Module):
    """Embedding, LSTM, GRU, a linear layer."""

    def __init__(self, *, fault: str = "") -> None:
        super().__init__()
        self.embedding = nn.Embedding(30, 8)
        self.lstm = nn.LSTM(8, 8, batch_first=True)
        self.gru = nn.GRU(8, 8, batch_first=True)
        self.head = nn.Linear(8, 8)
        self._fault = fault

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.embedding(ids)
        if self._fault == "reversed":
            x = x.flip(1)
        x, _ = self.lstm(x)
        x, _ = self.gru(x)
        return self.head(x[:, -1])


class UNet(nn.Module):
    """Down, up, a skip connection."""

    def __init__(self, *, align: bool = False, swapped: bool = False, sigmoid: bool = True, slope: float = 0.1) -> None:
        super().__init__()
        self.down = nn.Conv2d(1, 4, 3, padding=1)
        self.act = nn.LeakyReLU(slope)
        self.pool = nn.AvgPool2d(2)
        self.middle = nn.Conv2d(4, 4, 3, padding=1)
        self.up = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=align)
        self.merge = nn.Conv2d(8, 4, 3, padding=1)
        self.last = nn.Conv2d(4, 1, 1)
        self._swapped, self._sigmoid = swapped, sigmoid

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        skip = self.act(self.down(x))
        deep = self.up(self.act(self.middle(self.pool(skip))))
        both = torch.cat([deep, skip] if self._swapped else [skip, deep], 1)
        out = self.last(self.act(self.merge(both)))
        return out.sigmoid() if self._sigmoid else out


class RmsNorm(nn.Module):
    def __init__(self, width: int, *, plus: bool = False) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.rand(width) + 0.5)
        self._plus = plus

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        normed = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
        return normed * (1 + self.weight) if self._plus else normed * self.weight


class Llama(nn.Module):
    """RMSNorm, rotary positions, a gated feed-forward layer."""

    def __init__(self, *, fault: str = "") -> None:
        super().__init__()
        self.tokens = nn.Embedding(40, 16)
        self.norm1, self.norm2 = RmsNorm(16), RmsNorm(16, plus=fault == "plus")
        self.q, self.k, self.v, self.o = (nn.Linear(16, 16, bias=False) for _ in range(4))
        self.gate, self.up, self.down = nn.Linear(16, 32), nn.Linear(16, 32), nn.Linear(32, 16)
        self.head = nn.Linear(16, 40)
        self._fault = fault

    def rotated(self, x: torch.Tensor) -> torch.Tensor:
        size = x.shape[-1]
        angles = torch.arange(x.shape[-2])[:, None] * 10000.0 ** (-torch.arange(0, size, 2) / size)
        if self._fault == "rope":  # neighbours instead of halves
            a, b = x[..., 0::2], x[..., 1::2]
            turned = torch.stack([a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()], -1)
            return turned.flatten(-2)
        a, b = x.chunk(2, -1)
        return torch.cat([a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()], -1)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.tokens(ids)
        h = self.norm1(x)
        q, k, v = (part(h).unflatten(-1, (2, 8)).transpose(1, 2) for part in (self.q, self.k, self.v))
        attended = F.scaled_dot_product_attention(
            self.rotated(q), self.rotated(k), v, is_causal=self._fault != "causal"
        )
        x = x + self.o(attended.transpose(1, 2).flatten(2))
        h = self.norm2(x)
        gated = F.gelu(self.gate(h)) if self._fault == "gate" else F.silu(self.gate(h))
        return self.head(x + self.down(gated * self.up(h)))
