"""Attention maps: the same weights are seen, whoever computes them."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from facts_of import facts_of
from paramedic.record.facts import Attention

SIZE, WIDTH, HEADS = 6, 8, 2
ATTEND = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]


def by_hand(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    future = torch.ones(SIZE, SIZE, dtype=torch.bool).triu(1)
    return F.dropout(scores.masked_fill(future, -1e9).softmax(-1), 0.1) @ v


def by_einsum(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    scores = torch.einsum("bhqd,bhkd->bhqk", q, k) / math.sqrt(q.shape[-1])
    scores = scores + torch.full((SIZE, SIZE), float("-inf")).triu(1)
    return torch.einsum("bhqk,bhkd->bhqd", torch.softmax(scores, dim=-1), v)


def by_function(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def with_mask(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    past = torch.ones(SIZE, SIZE, dtype=torch.bool).tril()
    return F.scaled_dot_product_attention(q, k, v, past[None, None])


class Block(nn.Module):
    def __init__(self, attend: ATTEND | None) -> None:
        super().__init__()
        self.inner = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
        self.attend = attend

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.attend is None:
            future = torch.ones(SIZE, SIZE, dtype=torch.bool).triu(1)
            return self.inner(x, x, x, attn_mask=future, need_weights=False)[0]
        projected = F.linear(x, self.inner.in_proj_weight, self.inner.in_proj_bias).chunk(3, -1)
        q, k, v = (t.unflatten(-1, (HEADS, -1)).transpose(1, 2) for t in projected)
        return self.inner.out_proj(self.attend(q, k, v).transpose(1, 2).flatten(2))


def seen(net: nn.Module, x: torch.Tensor, **settings: int) -> list[Attention]:
    optimizer = torch.optim.SGD(net.parameters(), 0.0)

    def step() -> None:
        net(x).square().mean().backward()
        optimizer.step()

    return list(facts_of(step, **settings).facts(Attention))


def pixels(found: Attention, head: int) -> torch.Tensor:
    grey = torch.frombuffer(bytearray(base64.b64decode(found.heads[head].map)), dtype=torch.uint8)
    return grey.view(found.rows, -1).float() / 255


@pytest.mark.parametrize("attend", [None, by_function, with_mask, by_hand, by_einsum])
def test_the_weights_are_those_of_torch(attend: ATTEND | None) -> None:
    torch.manual_seed(0)
    net, x = Block(attend), torch.randn(3, SIZE, WIDTH)
    future = torch.ones(SIZE, SIZE, dtype=torch.bool).triu(1)
    true = net.inner(x, x, x, attn_mask=future, average_attn_weights=False)[1][0].detach()
    found = seen(net, x)[0]
    assert (found.of, found.queries, found.keys) == (HEADS, SIZE, SIZE) and found.where.module
    for head in range(HEADS):
        row_by_row = true[head] / true[head].amax(-1, keepdim=True)
        assert torch.allclose(pixels(found, head), row_by_row, atol=0.003)
        p = true[head, 1:]
        entropy = (-(p * p.clamp_min(1e-30).log()).sum(-1) / torch.arange(2, SIZE + 1).log()).mean()
        assert found.heads[head].entropy == pytest.approx(float(entropy), abs=1e-4)


def test_a_decoder_that_asks_one_query_at_a_time() -> None:
    keys, heads = torch.randn(4, 9, WIDTH), nn.Linear(WIDTH, WIDTH)

    class Decoder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.query = heads

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            outputs = []
            for n in range(x.shape[1]):
                scores = torch.bmm(keys, self.query(x[:, n]).unsqueeze(2)).squeeze(2)
                outputs.append(torch.bmm(F.softmax(scores, dim=1).unsqueeze(1), keys))
            return torch.cat(outputs, 1)

    found = seen(Decoder(), torch.randn(4, 5, WIDTH))[0]
    assert (found.queries, found.keys, found.of, found.step) == (5, 9, 1, 0)


def test_perfect_and_even_weights() -> None:
    class Fixed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scale = nn.Parameter(torch.tensor(0.0))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.softmax(torch.eye(50) * x * self.scale, -1) @ torch.eye(50)

    net, x = Fixed(), torch.ones(2, 50, 50)
    even = seen(net, x)[0].heads[0]
    assert even.entropy == pytest.approx(1, abs=1e-4) and even.diagonality == pytest.approx(0, abs=1e-4)
    net.scale.data.fill_(50.0)
    found = seen(net, x)[0]
    assert found.heads[0].entropy == pytest.approx(0, abs=1e-3) and found.heads[0].diagonality > 0.99
    assert found.rows == 32 and pixels(found, 0).shape == (32, 25), "bounded, whatever the length"


def test_gates_and_classifiers_are_not_attention() -> None:
    gate, experts = nn.Linear(4, 3), torch.randn(3, 5)

    class Gated(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.gate = gate

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.softmax(self.gate(x), -1) @ experts

    assert seen(Gated(), torch.randn(8, 4)) == []


def test_few_looks_at_a_long_training() -> None:
    steps = [found.step for found in seen(Block(by_function), torch.randn(3, SIZE, WIDTH), steps=60)]
    assert steps == [0, 3, 12, 48]
