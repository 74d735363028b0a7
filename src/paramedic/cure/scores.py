"""The script's own metrics, as it prints them: the last value under each name, and which way is better."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

HIGHER = re.compile(r"\b(acc|accuracy|f1|auc|auroc|iou|miou|dice|recall|precision|r2|psnr|bleu|reward|return|map)\b")
LOWER = re.compile(r"\b(error|mae|mse|rmse|perplexity|ppl|wer|cer|deviation)\b")
LOSS = re.compile(r"\b(loss|nll|bce|elbo|objective)\b")
_PAIR = re.compile(r"([A-Za-z][A-Za-z0-9_@ -]*?)\s*[:=]?\s*\(?(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*(%?)")
SLACK = 0.05  # of a share such as an accuracy, and of any other value relative to itself


def printed(output: Path) -> dict[str, float]:
    """Names with the numbers behind them, from the end of what a run has printed."""
    try:
        text = output.read_text(errors="replace")[-100_000:]
    except OSError:
        return {}
    found: dict[str, float] = {}
    for line in text.splitlines():
        for name, value, per_cent in _PAIR.findall(line):
            words = " ".join(re.sub(r"[_-]", " ", name).lower().split())
            if HIGHER.search(words) or LOWER.search(words) or LOSS.search(words):
                found[words] = float(value) / (100 if per_cent else 1)
    return found


def comparable(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, tuple[float, float]]:
    """Metrics that both runs printed, losses aside: an edit may change what a loss means."""
    return {
        name: (value, after[name])
        for name, value in before.items()
        if name in after and not LOSS.search(name) and value == value and after[name] == after[name]
    }


def got_worse(name: str, before: float, after: float) -> bool:
    """By more than two runs with other random numbers would differ."""
    slack = SLACK if 0 <= before <= 1 else SLACK * abs(before)
    return after < before - slack if HIGHER.search(name) else after > before + slack
