"""Signals: noise that only the training part gets, and peaks that lie anywhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.utils.data import Dataset

import paramedic


class Pulses(Dataset[Any]):
    """One peak each, narrow or wide."""

    def __init__(self, count: int, seed: int, noise: float) -> None:
        random = np.random.default_rng(seed)
        self.wide = random.integers(0, 2, count)
        middle = random.uniform(0.3, 0.7, count)[:, None]
        width = np.where(self.wide, 0.07, 0.03)[:, None]
        self.rows = torch.tensor(np.exp(-(((np.linspace(0, 1, 96) - middle) / width) ** 2)), dtype=torch.float32)
        self.noise = noise

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, i: int) -> tuple[torch.Tensor, int]:
        return self.rows[i] + self.noise * torch.randn(96), int(self.wide[i])


CODES = ["PM308", "PM318", "PM321"]


def alarms(train: object, val: object) -> list[tuple[str, tuple[int, ...]]]:
    report = paramedic.audit(train, val, select=CODES)
    assert report.diagnosis.crashed == ()
    return [(finding.code, finding.samples) for finding in report.findings if finding.severity != "note"]


def test_augmentation_of_the_training_part_is_no_fault() -> None:
    assert alarms(Pulses(256, 0, 0.15), Pulses(64, 1, 0.0)) == []


def test_a_signal_in_another_unit_is_one() -> None:
    val = Pulses(64, 1, 0.0)
    val.rows[7] *= 1000
    assert ("PM321", (7,)) in alarms(Pulses(256, 0, 0.0), val)


def test_another_scale_of_augmented_data_is_one() -> None:
    train, val = Pulses(256, 0, 0.02), Pulses(64, 1, 0.02)
    val.rows *= 255
    assert "PM318" in dict(alarms(train, val))
