"""Gradients without torch's engine are those of the engine."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from paramedic.capture.apart.gradients import gradients, without_engine


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):  # type: ignore[no-untyped-def]
        ctx.save_for_backward(x)
        return x**3, y * 2

    @staticmethod
    def backward(ctx, gx, gy):  # type: ignore[no-untyped-def]
        (x,) = ctx.saved_tensors
        return 3 * x**2 * gx, 2 * gy


def attention(x: torch.Tensor) -> torch.Tensor:
    layer = nn.TransformerEncoderLayer(6, 2, 8, dropout=0.0, batch_first=True)
    return layer(x[None]).square().sum()


def mixed(x: torch.Tensor) -> torch.Tensor:
    with torch.autocast("cpu", torch.bfloat16):
        return F.cross_entropy(nn.Linear(6, 3)(x).float(), torch.tensor([0, 1, 2, 0]))


LOSSES: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "broadcast": lambda x: ((x - x.mean(0)) * x[:, :1] / x.std()).sum(),
    "used twice": lambda x: (x * x.sum() + x.t().reshape(4, 6)).logsumexp(1).mean(),
    "some outputs": lambda x: x.unbind(0)[1].sum() + x.topk(2, 1).values.sum() + x.split(2)[1].max(),
    "picked": lambda x: x[[0, 0, 2], 1].sum() - x.gather(1, torch.tensor([[1], [2], [0], [5]])).norm(),
    "recurrent": lambda x: nn.LSTM(6, 5, 2)(x[:, None])[0][-1].sum(),
    "pictures": lambda x: F.max_pool2d(nn.BatchNorm2d(2)(nn.Conv2d(1, 2, 3, padding=1)(x[None, None])), 2).sum(),
    "attention": attention,
    "half": mixed,
    "own function": lambda x: Cube.apply(x, x)[0].sum(),
    "in place": lambda x: (x * 2).clamp_(min=0).add_(x).exp().sum(),
    "checkpointed embedding": lambda x: F.embedding_bag(torch.tensor([[0, 1], [1, 3]]), x).square().sum(),
}


@pytest.mark.parametrize("name", LOSSES)
def test_they_agree(name: str) -> None:
    def grads(way: Callable[..., object]) -> object:
        torch.manual_seed(0)
        x = torch.randn(4, 6).requires_grad_()
        other = torch.zeros(3, requires_grad=True)  # which the loss does not depend on
        return way(LOSSES[name](x), [x, other])

    by_engine = grads(lambda loss, leaves: torch.autograd.grad(loss, leaves, allow_unused=True))
    by_hand = grads(without_engine)
    assert isinstance(by_engine, tuple) and isinstance(by_hand, list)
    assert by_engine[1] is by_hand[1] is None
    torch.testing.assert_close(by_hand[0], by_engine[0])


def test_a_loss_without_a_graph_is_refused() -> None:
    with pytest.raises(RuntimeError, match="depends on nothing"):
        without_engine(torch.tensor(1.0), [])


def test_hooks_see_and_change_the_same() -> None:
    def grads(way: Callable[..., list[torch.Tensor | None]]) -> tuple[list[float], torch.Tensor | None]:
        x = torch.tensor([1e-6, 4.0], requires_grad=True)
        root = x.sqrt()
        seen: list[float] = []

        def tame(given: tuple[torch.Tensor], got: tuple[torch.Tensor]) -> tuple[torch.Tensor]:
            seen.extend((float(given[0].max()), float(got[0].max())))
            return (given[0].clamp(max=1.0),)

        return seen, way(root.sum(), [x], {root.grad_fn: tame})[0]

    by_engine, by_hand = grads(gradients), grads(without_engine)
    assert by_engine[0] == by_hand[0] == pytest.approx([500.0, 1.0])
    assert by_engine[1] is not None and by_hand[1] is not None
    torch.testing.assert_close(by_hand[1], by_engine[1])
    assert by_hand[1].tolist() == [1.0, 0.25]
