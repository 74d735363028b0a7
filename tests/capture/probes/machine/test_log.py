"""The log of a run: one line of JSON now and then."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

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


def test_a_loader_made_anew_for_each_epoch_is_no_evaluation(tmp_path: Path) -> None:
    model, data = nn.Linear(4, 1), (torch.randn(24, 4), torch.randn(24, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with attached(replace(QUIET, log_every=2), tmp_path):
        for _ in range(3):
            for x, y in DataLoader(TensorDataset(*data), batch_size=8):
                time.sleep(0.06)  # a line is written ten times per second at most
                optimizer.zero_grad()
                F.mse_loss(model(x), y).backward()
                optimizer.step()
    lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [line["phase"] for line in lines] == ["train"] * 5
    assert [line["steps"] for line in lines] == [2, 2, 2, 2, 1], "and the last step is not lost"
    assert all(line["batch"] == [[8, 4], [8, 1]] and line["loss"] for line in lines)
