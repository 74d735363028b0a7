"""How good answers are does not depend on what the loss makes of them."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch.nn import functional as F

from paramedic.interventions import install

torch.manual_seed(0)
SCORES = torch.randn(60, 4)
CLASSES = torch.where(torch.rand(60) < 0.7, SCORES.argmax(1), torch.tensor(0))
CHANCES = torch.randn(60)
HAPPENED = (CHANCES + torch.randn(60) > 0).float()
NUMBERS = torch.randn(60)
GUESSED = (NUMBERS + 0.1 * torch.randn(60)).unsqueeze(1)


def answers(folder: Path, loss: str, prediction: torch.Tensor, target: torch.Tensor) -> dict[str, float]:
    original = getattr(F, loss)
    surroundings = install("answers", folder)
    try:
        wanted = original(prediction, target)
        assert torch.equal(getattr(F, loss)(prediction.requires_grad_(), target), wanted)
        with torch.no_grad():
            getattr(F, loss)(prediction.flip(0), target)  # an evaluation does not count
        for finish in surroundings.on_finish:
            finish()
    finally:
        surroundings._patches.undo()
    noted: dict[str, float] = surroundings.noted["answers"]
    return noted


def test_classes(tmp_path: Path) -> None:
    right = float((SCORES.argmax(1) == CLASSES).double().mean())
    for loss, prediction in (
        ("cross_entropy", SCORES),
        ("cross_entropy", SCORES.softmax(1)),
        ("nll_loss", SCORES.log_softmax(1)),
    ):
        assert answers(tmp_path, loss, prediction, CLASSES) == {"training accuracy": pytest.approx(right)}


def test_labels_that_stand_for_none_do_not_count(tmp_path: Path) -> None:
    target = torch.where(torch.arange(60) % 2 == 0, SCORES.argmax(1), torch.tensor(-100))
    assert answers(tmp_path, "cross_entropy", SCORES.clone(), target) == {"training accuracy": 1.0}


def test_chances(tmp_path: Path) -> None:
    from sklearn.metrics import roc_auc_score

    area = roc_auc_score(HAPPENED, CHANCES)
    for loss, prediction in (
        ("binary_cross_entropy_with_logits", CHANCES.clone()),
        ("binary_cross_entropy_with_logits", CHANCES.sigmoid()),
        ("binary_cross_entropy", CHANCES.sigmoid()),
    ):
        assert answers(tmp_path, loss, prediction, HAPPENED) == {"training auc": pytest.approx(area)}


@pytest.mark.filterwarnings("ignore:Using a target size")
def test_numbers(tmp_path: Path) -> None:
    told = answers(tmp_path, "mse_loss", GUESSED.clone(), NUMBERS)  # (60, 1) against (60,), which the loss broadcasts
    assert told["training r2"] > 0.9 and told == answers(tmp_path, "mse_loss", GUESSED.clone().squeeze(1), NUMBERS)
