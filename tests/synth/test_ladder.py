"""The ladder: a sound model climbs it, a broken one breaks at the rung that needs what it lacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from paramedic import ParamedicError
from paramedic.synth.catalogue import TASKS
from paramedic.synth.fitting import choose
from paramedic.synth.ladder import Climb, climb
from workshop import Workshop


def mlp(activation: type[nn.Module] = nn.Tanh, inputs: int = 1, outputs: int = 1) -> nn.Module:
    return nn.Sequential(nn.Linear(inputs, 64), activation(), nn.Linear(64, 64), activation(), nn.Linear(64, outputs))


class Tokens(nn.Module):
    """One attention block over 11 symbols."""

    def __init__(self, positions: bool) -> None:
        super().__init__()
        self.embed = nn.Embedding(11, 32)
        self.positions = nn.Parameter(torch.randn(8, 32) * 0.5) if positions else None
        self.attend = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
        self.head = nn.Linear(32, 11)

    def forward(self, x: Any) -> Any:
        h = self.embed(x)
        return self.head(self.attend(h if self.positions is None else h + self.positions))


def results(make: Callable[[], Any], task: str, steps: int = 400, **settings: Any) -> list[Climb]:
    return list(climb(make, TASKS[task], settings, steps=steps))


def test_a_sound_model_climbs_to_the_top() -> None:
    found = results(mlp, "sine", steps=800)
    assert [result.passed for result in found] == [True] * 4
    assert all(result.optimum * 0.9 <= result.error < result.blind for result in found)
    assert found[3].optimum == pytest.approx(0.09)


def test_without_a_nonlinearity_it_breaks_at_the_bend() -> None:
    found = results(lambda: mlp(nn.Identity), "sine")
    assert [result.passed for result in found] == [True, False]
    assert "nonlinearity" in found[-1].rung.needs and found[-1].learnt < 0.7


def test_a_linear_classifier_breaks_where_no_line_separates() -> None:
    assert [result.passed for result in results(lambda: nn.Linear(2, 3), "gaussians")] == [True, True, True, False]


def test_without_positions_reversal_breaks_where_order_matters() -> None:
    lost = results(lambda: Tokens(positions=False), "reverse", steps=150)
    assert [result.passed for result in lost] == [True, False] and "positions" in lost[-1].rung.needs
    assert [result.passed for result in results(lambda: Tokens(positions=True), "reverse")] == [True, True, True]


def test_a_cut_graph_breaks_at_the_first_rung() -> None:
    class Cut(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body, self.head = nn.Linear(2, 8), nn.Linear(8, 3)

        def forward(self, x: Any) -> Any:
            return self.head(self.body(x).detach() * 0)

    found = results(Cut, "gaussians", steps=100)
    assert [result.passed for result in found] == [False] and found[0].learnt < 0.2


def test_a_model_that_makes_nans_breaks_and_does_not_crash() -> None:
    class Bad(nn.Linear):
        def forward(self, x: Any) -> Any:
            return super().forward(x) * float("nan")

    (only,) = results(lambda: Bad(1, 1), "sine", steps=100)
    assert not only.passed and only.learnt <= 0


def test_the_callers_random_state_is_left_alone() -> None:
    before = torch.random.get_rng_state()
    results(lambda: nn.Linear(2, 3), "gaussians", steps=50)
    assert torch.equal(before, torch.random.get_rng_state())


def test_tasks_are_chosen_by_what_the_model_takes_and_returns() -> None:
    names = [task.name for task, _ in choose(lambda: mlp(inputs=2, outputs=3), [], {})]
    assert names == ["gaussians"]
    assert [task.name for task, _ in choose(lambda: mlp(inputs=20), [], {"dims": "20"})] == [
        "sine",
        "friedman",
        "ranking",
    ]
    with pytest.raises(ParamedicError, match=r"(?s)returned outputs of shape \(4, 3\).*dims"):
        choose(lambda: mlp(inputs=1, outputs=3), ["sine"], {})
    with pytest.raises(ParamedicError, match="no task fits"):
        choose(lambda: mlp(inputs=7, outputs=7), [], {})


def test_the_command_says_where_it_breaks(warm_shop: Workshop) -> None:
    warm_shop.write(
        "nets.py",
        "from torch import nn\ndef good(): return nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 3))\n"
        "class Flat(nn.Linear):\n    def __init__(self): super().__init__(2, 3)\n",
    )
    bad = warm_shop.paramedic("synth", "ladder", "nets:Flat", "--steps", "400")
    assert bad.code == 1 and "Breaks at rung 4 of 4" in bad.stdout and "Bayes error" in bad.stdout
    assert max(map(len, bad.stdout.splitlines())) <= 80 and bad.stderr == ""
    good = warm_shop.paramedic("synth", "ladder", "nets.py:good")
    assert good.code == 0 and "All 4 rungs of gaussians are learnt" in good.stdout, good.stderr
    wrong = warm_shop.paramedic("synth", "ladder", "nets.py:Goof")
    assert wrong.code == 2 and "good" in wrong.stderr and "Traceback" not in wrong.stderr
