"""The script's own metrics, as it prints them: the values under each name, and which way is better."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

HIGHER = re.compile(
    r"\b(acc|accuracy|f1|auc|auroc|iou|miou|dice|recall|precision|r2|psnr|bleu|reward|return|returns|map|index|ndcg|mrr|"
    r"score|success|good|modes|correct|hits|coverage)(@\d+)?\b"
)
LOWER = re.compile(r"\b(error|mae|mse|rmse|perplexity|ppl|wer|cer|deviation)\b")
TRAINING = re.compile(r"train|training")
UNSEEN = re.compile(r"\b(test|val|valid|validation|dev|eval|held out|heldout)\b")
PER_CENT = re.compile(r"\b(acc|accuracy)\b")
LOSS = re.compile(r"\b(loss|nll|bce|elbo|objective)\b")
TO_BE_LOW = re.compile(r"\b(loss|nll|bce)\b")  # an ELBO may be printed with either sign
# "name 0.5", "name: 0.5", "name=50%", "'name': '0.5'" of a dictionary, "| name | 0.5 |" of a table
_PAIR = re.compile(
    r"([A-Za-z][A-Za-z0-9_@/ -]*?)[\"']?\s*[:=\s(|│┃]\s*[|│\"'(]?(?:[a-z_.0-9]+\()?"
    r"([-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*(%?)"
)
MOST = 200  # values of each


def readings(output: Path) -> dict[str, list[float]]:
    """Names of metrics and losses with the numbers behind them, in order, from the end of what a run has printed."""
    return {name: values for name, values in _numbers(output).items() if _says_what_it_is(name)}


def metrics(output: Path) -> dict[str, dict[str, object]]:
    """Those that are no loss, for the record; also what is only called after its data, as in "train 0.95 test 0.51"."""
    found = _numbers(output)
    bare = {name for name in found if TRAINING.fullmatch(name) or UNSEEN.fullmatch(name)}
    shares = any(_rises_as_a_share(found[name]) for name in bare if TRAINING.fullmatch(name))
    kept = {name for name in found if _says_what_it_is(name) and not LOSS.search(name)}
    kept |= {name for name in bare if shares and _is_a_share(found[name])}
    kept |= {name for name in found if TO_BE_LOW.search(name) and UNSEEN.search(name)}
    return {name: _told(name, found[name], is_share=name in bare) for name in kept}


def _told(name: str, values: list[float], *, is_share: bool) -> dict[str, object]:
    if PER_CENT.search(name) and max(values) > 1 and min(values) >= 0 and max(values) <= 100:
        values = [value / 100 for value in values]
    higher = is_share or (HIGHER.search(name) is not None and LOSS.search(name) is None)
    return {"values": values, "higher": higher, "unseen": UNSEEN.search(name) is not None}


def _numbers(output: Path) -> dict[str, list[float]]:
    try:
        text = output.read_text(errors="replace")[-100_000:]
    except OSError:
        return {}
    found: dict[str, list[float]] = {}
    for line in text.splitlines():
        for name, value in _pairs(line):
            found.setdefault(name, []).append(value)
    return {name: values[-MOST:] for name, values in found.items()}


def _pairs(line: str) -> Iterator[tuple[str, float]]:
    """In "loss 0.1 acc 0.9 | val loss 0.2 acc 0.8", the second "acc" is that of the data named last: "val acc"."""
    seen, side = set(), ""
    for name, value, per_cent in _PAIR.findall(line):
        words = " ".join(re.sub(r"[_/-]", " ", name).lower().split())
        if (unseen := UNSEEN.search(words)) is not None or TRAINING.search(words):
            side = unseen.group() if unseen is not None else ""
        elif side and words in seen:
            words = f"{side} {words}"
        seen.add(words)
        yield words, float(value) / (100 if per_cent else 1)


def _says_what_it_is(name: str) -> bool:
    return any(pattern.search(name) for pattern in (HIGHER, LOWER, LOSS))


def _is_a_share(values: list[float]) -> bool:
    return all(0 <= value <= 1 for value in values)


def _rises_as_a_share(values: list[float]) -> bool:
    """Whether numbers behind the word "train" are a metric: a loss would fall."""
    return len(values) > 1 and _is_a_share(values) and values[-1] > values[0]
