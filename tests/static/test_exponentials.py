"""Perplexities that are averaged: found in the source, joined with where the loss was computed."""

from __future__ import annotations

import pytest

from paramedic.findings import Where
from paramedic.static.exponentials import averaged_exponential
from paramedic.static.program import Program

LISTED = """
def lm_loss(model, ids):
    return F.cross_entropy(model(ids), ids)

def perplexity(model, data):
    scores = []
    for ids in data:
        scores.append(math.exp(lm_loss(model, ids).item()))
    return sum(scores) / len(scores)
"""
ADDED = """
total = 0.0
for x, y in loader:
    loss = F.cross_entropy(model(x), y)
    total += torch.exp(loss)
print(total / len(loader))
"""
ONCE = """
total = 0.0
for x, y in loader:
    loss = F.cross_entropy(model(x), y)
    total += loss.item()
print(math.exp(total / len(loader)))
"""
OF_SOMETHING_ELSE = """
losses, rates = [], []
for x, y in loader:
    rates.append(math.exp(schedule(x)))
for x, y in loader:
    losses.append(F.cross_entropy(model(x), y).item())
print(sum(rates) / len(rates), sum(losses) / len(losses))
"""


@pytest.mark.parametrize(
    ("code", "line", "function", "found"),
    [
        (LISTED, 3, "lm_loss", 8),
        (ADDED, 4, "<module>", 5),
        (ONCE, 4, "<module>", None),
        (OF_SOMETHING_ELSE, 6, "<module>", None),
    ],
)
def test_the_mean_of_exponentials(code: str, line: int, function: str, found: int | None) -> None:
    link = averaged_exponential(Program({"t.py": code}), Where(file="t.py", line=line, function=function))
    assert (link.line if link else None) == found
