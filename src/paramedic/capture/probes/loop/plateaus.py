"""What ReduceLROnPlateau is told: a number that should fall, or one that should rise?"""

from __future__ import annotations

import linecache
import re
from typing import Any

import torch

from paramedic.program.where import user_frame, variable_name

MOST_VALUES = 200
_RISING = {
    "acc", "accuracy", "top1", "top5", "f1", "auc", "auroc", "iou", "miou", "dice", "bleu", "rouge", "recall",
    "precision", "r2", "psnr", "ssim", "reward",
}  # fmt: skip
_FALLING = {"loss", "losses", "error", "err", "mse", "rmse", "mae", "nll", "ppl", "perplexity"}
_GIVEN = re.compile(r"\.step\((.*)\)")


def meaning(value: object) -> tuple[str, str] | None:
    """The name of the number that a scheduler was given, and whether such a number should rise or fall."""
    frame = user_frame()
    name = variable_name(frame, value)
    if name is None and frame is not None:
        given = _GIVEN.search(linecache.getline(frame.f_code.co_filename, frame.f_lineno))
        name = given.group(1) if given is not None and "-" not in given.group(1) else None
    words = set(re.split(r"[^a-z0-9]+", (name or "").lower()))
    if name is None or bool(words & _RISING) == bool(words & _FALLING):
        return None
    return name, "rise" if words & _RISING else "fall"


def number(value: Any) -> float | None:
    """As a plain number, if that can be had without waiting for an accelerator."""
    if isinstance(value, torch.Tensor):
        return float(value) if value.numel() == 1 and value.device.type == "cpu" else None
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
