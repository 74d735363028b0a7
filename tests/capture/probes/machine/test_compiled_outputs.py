"""Outputs of modules inside compiled graphs, on request."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from facts_of import facts_of, training
from paramedic.settings import Settings


@pytest.mark.parametrize("wanted", [True, False])
def test_outputs_inside_a_graph(wanted: bool) -> None:
    torch.compiler.reset()

    def program() -> None:
        model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 1))
        compiled = torch.compile(model, backend="eager")
        learn = training(model, lambda: compiled(torch.ones(8, 4)).square().mean())
        for _ in range(3):
            learn()

    settings = Settings(probes=False, every=1, compiled_outputs=wanted)
    seen = {name for sample in facts_of(program, steps=1, settings=settings).samples("output") for name in sample.names}
    assert any(name.endswith(".1") for name in seen) == wanted
