"""The log of a run: one line of JSON now and then."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from facts_of import QUIET, attached, training


def test_the_last_line_tells_of_the_last_step(tmp_path: Path) -> None:
    model, x = nn.Linear(4, 1), torch.randn(8, 4)
    learn = training(model, lambda: F.mse_loss(model(x), torch.zeros(8, 1)))
    with attached(QUIET, tmp_path):
        for _ in range(5):
            learn()
    lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert lines[-1]["phase"] == "train" and sum(line["steps"] for line in lines) == 5
    assert lines[-1]["learning_rate"] == [0.01] and lines[-1]["loss"]


def test_without_a_step_there_is_no_log(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), attached(QUIET, tmp_path):
        _ = 1 / 0
    assert not (tmp_path / "log.jsonl").exists()
