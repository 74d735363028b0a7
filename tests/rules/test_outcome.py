"""A training that ends much worse than it once was is not called healthy, whatever the rules say."""

from __future__ import annotations

import random

import pytest

from paramedic.findings import Where
from paramedic.rules.curves import Curve
from paramedic.rules.outcome import setback
from workshop import Workshop


def curve(values: list[float]) -> Curve:
    return Curve(where=Where(), steps=len(values), values=tuple(values), at=tuple(range(len(values))), task="mse_loss")


def noisy(*levels: tuple[float, int]) -> list[float]:
    draw = random.Random(0)
    return [level * draw.uniform(0.8, 1.2) for level, count in levels for _ in range(count)]


def test_a_loss_that_rose_again_is_known_with_its_best_stretch() -> None:
    found = setback(curve(noisy((2.0, 20), (1.0, 20), (0.3, 80), (1.8, 60))))
    assert found is not None
    step, loss = found
    assert 40 < step < 120 and loss == pytest.approx(0.3, rel=0.1)


@pytest.mark.parametrize(
    "levels",
    [
        pytest.param([(2.0, 30), (0.5, 100)], id="it fell"),
        pytest.param([(2.0, 130)], id="it never moved"),
        pytest.param([(2.0, 30), (0.5, 60), (0.7, 40)], id="it lost a little"),
        pytest.param(
            [(0.1, 60), (0.5, 60)], id="a second phase is harder than the first, from which nothing was gained"
        ),
    ],
)
def test_other_curves_are_left_alone(levels: list[tuple[float, int]]) -> None:
    assert setback(curve(noisy(*levels))) is None


def test_what_guessing_gives_is_known_whichever_way_round_the_loss_is_called(warm_shop: Workshop) -> None:
    warm_shop.write(
        "train.py",
        """
import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 6))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(70):
    x = 3 * torch.randn(64, 6)
    loss = nn.functional.mse_loss(x, model(x))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    )
    done = warm_shop.run("train.py")
    guessing = float(done.stderr.replace("\n", " ").partition("(guessing ")[2].partition(")")[0])
    assert guessing == pytest.approx(9, rel=0.1)
