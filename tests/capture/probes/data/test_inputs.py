"""What reaches the first layer with weights."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import Input

PIXELS = torch.randint(256, (16, 5), generator=torch.Generator().manual_seed(0)).float()


def test_the_scale_of_a_table_column_by_column() -> None:
    model, x = nn.Sequential(nn.Linear(5, 1)), PIXELS.clone()
    x[:, 4] = 7.0
    [found] = facts_of(training(model, lambda: model(x).square().mean())).facts(Input)
    assert (found.class_, found.features, found.samples, found.calls) == ("Linear", 5, 48, 3)
    assert (found.min, found.max) == (x.min().item(), x.max().item())
    assert found.mean == pytest.approx(x.mean().item())
    assert (found.constant_features, found.whole_numbers) == (1, 1.0)


def test_pictures_whose_colours_were_reshaped_are_smoother_the_other_way() -> None:
    lines = torch.linspace(0, 1, 16)
    picture = torch.stack([lines[:, None] + lines, lines[:, None] * 3 - lines, lines[:, None] - 2 * lines], -1)
    model = nn.Sequential(nn.Conv2d(3, 2, 3))

    def roughness(x: torch.Tensor) -> bool:
        [found] = facts_of(training(model, lambda: model(x).square().mean())).facts(Input)
        return found.roughness > found.roughness_interleaved

    batch = picture.repeat(4, 1, 1, 1)  # height × width × colours
    assert roughness(batch.reshape(4, 3, 16, 16)) and not roughness(batch.permute(0, 3, 1, 2))


def test_what_is_made_by_trained_layers_is_no_input() -> None:
    embedding, model = nn.Embedding(9, 5), nn.Sequential(nn.Linear(5, 1))
    step = training(nn.ModuleList([embedding, model]), lambda: model(embedding(torch.arange(8))).square().mean())
    assert not facts_of(step).facts(Input)
