"""A profiler's trace of a few steps, on request."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import nn

from facts_of import QUIET, attached, training
from paramedic.record.facts import Trace
from paramedic.record.reader import open_runs


@pytest.mark.parametrize("steps", [1, 0])
def test_a_trace_of_the_wanted_steps(steps: int, tmp_path: Path) -> None:
    model = nn.Linear(4, 1)
    learn = training(model, lambda: model(torch.ones(8, 4)).square().mean())
    with attached(replace(QUIET, trace=steps), tmp_path):
        for _ in range(40):
            learn()
    [run] = open_runs(tmp_path)
    assert bool(run.facts(Trace)) == (tmp_path / "trace.json.gz").exists() == bool(steps)
