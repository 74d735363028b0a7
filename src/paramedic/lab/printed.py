"""The script's own metrics, as it prints them: the values under each name, and which way is better."""

from __future__ import annotations

import re
from pathlib import Path

HIGHER = re.compile(
    r"\b(acc|accuracy|f1|auc|auroc|iou|miou|dice|recall|precision|r2|psnr|bleu|reward|return|returns|map|index|ndcg|mrr|"
    r"score|success|good|modes|correct|hits|coverage)(@\d+)?\b"
)
LOWER = re.compile(r"\b(error|mae|mse|rmse|perplexity|ppl|wer|cer|deviation)\b")
LOSS = re.compile(r"\b(loss|nll|bce|elbo|objective)\b")
_PAIR = re.compile(r"([A-Za-z][A-Za-z0-9_@ -]*?)\s*[:=\s(]\s*\(?([-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*(%?)")
MOST = 200  # values of each


def readings(output: Path) -> dict[str, list[float]]:
    """Names with the numbers behind them, in order, from the end of what a run has printed."""
    try:
        text = output.read_text(errors="replace")[-100_000:]
    except OSError:
        return {}
    found: dict[str, list[float]] = {}
    for line in text.splitlines():
        for name, value, per_cent in _PAIR.findall(line):
            words = " ".join(re.sub(r"[_-]", " ", name).lower().split())
            if HIGHER.search(words) or LOWER.search(words) or LOSS.search(words):
                found.setdefault(words, []).append(float(value) / (100 if per_cent else 1))
    return {name: values[-MOST:] for name, values in found.items()}


def metrics(output: Path) -> dict[str, dict[str, object]]:
    """Those that are no loss, for the record."""
    return {
        name: {"values": values, "higher": HIGHER.search(name) is not None}
        for name, values in readings(output).items()
        if not LOSS.search(name)
    }
