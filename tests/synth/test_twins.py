"""Twins of batches: everything a model sees of the shape of the data stays; the rule can be learnt."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from paramedic import ParamedicError, synth


def batch_of(kind: str) -> tuple[Any, Any]:
    """Noise, with targets that have nothing to do with it."""
    torch.manual_seed(0)
    images, tokens = torch.rand(32, 3, 16, 16), torch.randint(1, 40, (32, 12))
    return {
        "images": (images, torch.randint(0, 5, (32,))),
        "bytes": ((255 * images).to(torch.uint8), torch.randint(0, 3, (32,))),
        "table": (torch.randn(32, 9) * torch.logspace(-3, 3, 9), 100 + 7 * torch.randn(32, 1)),
        "one feature": (torch.randn(32, 1), torch.randint(0, 3, (32,))),
        "labels": (torch.randn(32, 20), (torch.rand(32, 4) > 0.5).float()),
        "pixels": (images, torch.randint(0, 4, (32, 16, 16))),
        "text": (tokens, torch.randint(0, 2, (32,))),
        "tags": (tokens, torch.randint(0, 6, (32, 12))),
        "next token": (tokens[:, :-1], tokens[:, 1:]),
        "frames": (torch.randn(32, 10, 4), torch.randn(32, 10, 1)),
        "autoencoder": (torch.randn(32, 20), None),
    }[kind]


class Sequence(nn.Module):
    def __init__(self, outputs: int, pool: bool) -> None:
        super().__init__()
        self.embed, self.gru, self.pool = nn.Embedding(40, 32), nn.GRU(32, 32, batch_first=True), pool
        self.head = nn.Linear(32, outputs)

    def forward(self, x: Any) -> Any:
        out = self.gru(self.embed(x))[0]
        return self.head(out.mean(dim=1)) if self.pool else self.head(out).movedim(-1, 1)


def net(*sizes: int) -> nn.Module:
    return nn.Sequential(nn.BatchNorm1d(sizes[0]), nn.Linear(*sizes[:2]), nn.ReLU(), nn.Linear(*sizes[1:]))


def conv(outputs: int, pool: bool) -> nn.Module:
    end = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, outputs)] if pool else [nn.Conv2d(16, outputs, 1)]
    return nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(), *end)


LEARNERS: dict[str, tuple[Callable[[], nn.Module], Callable[[Any, Any], Any]]] = {
    "images": (lambda: conv(5, True), F.cross_entropy),
    "table": (lambda: net(9, 32, 1), lambda out, y: F.mse_loss(out, (y - 100) / 7)),
    "one feature": (lambda: net(1, 32, 3), F.cross_entropy),
    "labels": (lambda: net(20, 32, 4), F.binary_cross_entropy_with_logits),
    "pixels": (lambda: conv(4, False), F.cross_entropy),
    "text": (lambda: Sequence(2, True), F.cross_entropy),
    "tags": (lambda: Sequence(6, False), F.cross_entropy),
    "next token": (lambda: Sequence(40, False), F.cross_entropy),
    "frames": (lambda: nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1)), F.mse_loss),
}


@pytest.mark.parametrize("kind", LEARNERS)
def test_the_rule_can_be_learnt_over_many_batches(kind: str) -> None:
    """Every batch is a new twin with other targets, so what falls is not memory."""
    x, y = batch_of(kind)
    make, loss = LEARNERS[kind]
    twins, model = synth.twins((x, y)), make()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    losses = []
    for step in range(120):
        order = torch.randperm(32, generator=torch.Generator().manual_seed(step))[:24]
        new, target = twins((x[order], y[order]))
        value = loss(model(new), target)
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        losses.append(value.item())
    assert np.mean(losses[-10:]) < 0.5 * losses[0], losses[:: len(losses) - 1]


@pytest.mark.parametrize("kind", ["images", "bytes", "table", "labels", "pixels", "text", "tags", "frames"])
def test_what_stays_the_same(kind: str) -> None:
    x, y = batch_of(kind)
    new, target = synth.twin((x, y))
    assert torch.equal(target, y), "targets, and so class counts, stay"
    assert (new.shape, new.dtype) == (x.shape, x.dtype) and not torch.equal(new, x)
    assert x.min() <= new.min() and new.max() <= x.max()
    if x.is_floating_point():
        assert new.std() == pytest.approx(x.std(), rel=0.25)
    if kind == "table":
        assert torch.allclose(new.std(0), x.std(0), rtol=0.4), "each column keeps its scale"
    if kind in ("text", "tags"):
        assert set(new.unique().tolist()) <= set(x.unique().tolist()), "no symbol that the data does not have"


def test_language_models_keep_the_relation_of_input_and_target() -> None:
    x, y = batch_of("next token")
    new, target = synth.twin((x, y))
    assert torch.equal(new[:, 1:], target[:, :-1])
    labels = torch.where(torch.rand(x.shape) < 0.3, -100, x)
    batch = {"input_ids": x, "attention_mask": torch.ones_like(x), "labels": labels}
    made = synth.twin(batch)
    assert torch.equal(made["attention_mask"], batch["attention_mask"])
    assert torch.equal(made["labels"] == -100, labels == -100)
    heard = labels != -100
    assert torch.equal(made["labels"][heard], made["input_ids"][heard]) and not torch.equal(made["input_ids"], x)


def test_containers_lengths_and_arrays_come_back_as_they_were() -> None:
    Pair = namedtuple("Pair", "x lengths y")
    old = Pair(np.random.default_rng(0).random((8, 5, 2), dtype=np.float32), torch.arange(8), torch.arange(8) % 2)
    new = synth.twin(old)
    assert type(new) is Pair and new.x.dtype == np.float32 and new.x.shape == (8, 5, 2)
    assert torch.equal(new.lengths, old.lengths)
    half = synth.twin([torch.randn(8, 4, dtype=torch.bfloat16), torch.arange(8) % 2])
    assert isinstance(half, list) and half[0].dtype == torch.bfloat16


def test_same_seed_same_twin_and_the_random_state_is_left_alone() -> None:
    batch = batch_of("images")
    before = torch.random.get_rng_state()
    one, two, other = (synth.twin(batch, seed=seed)[0] for seed in (0, 0, 1))
    assert torch.equal(one, two) and not torch.equal(one, other)
    assert torch.equal(before, torch.random.get_rng_state())


def test_the_target_can_be_named_and_doubt_is_said() -> None:
    batch = {"picture": torch.randn(8, 5), "digit": torch.arange(8) % 3}
    with pytest.raises(ParamedicError, match=r"picture, digit"):
        synth.twin(batch)
    made = synth.twin(batch, target="digit")
    assert torch.equal(made["digit"], batch["digit"]) and not torch.equal(made["picture"], batch["picture"])
    with pytest.raises(ParamedicError, match="no input"):
        synth.twin("text")
