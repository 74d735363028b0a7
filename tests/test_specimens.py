"""Batches as people see them: what the page shows is what the model was given."""

from __future__ import annotations

import base64

import pytest
import torch

from paramedic.capture.probes.data.specimens import SIDE, _answers, _labels, _seen
from paramedic.record.facts import Specimens
from paramedic.record.reader import reading
from workshop import Workshop

SCRIPT = """
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Flatten(), nn.Linear(144, 3))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(12):
    y = torch.arange(12) % 3
    x = torch.zeros(12, 1, 12, 12)
    for n, label in enumerate(y.tolist()):
        x[n, 0, 4 * label : 4 * label + 4] = 2.0
    loss = F.cross_entropy(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_pictures_with_labels_and_answers_on_the_page(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", SCRIPT)
    done = warm_shop.run("train.py", options=("--html", "report.html"))
    assert done.code == 0, done.stderr
    page = (warm_shop.folder / "report.html").read_text()
    assert "Training batch at step 0" in page and "8 of 12 samples, pictures, input (12, 1, 12, 12)" in page
    assert "black is 0, white 2" in page and "answer 0 ✓" in page, "it has learnt them by the last batch"
    with reading(warm_shop.records()[0].parent) as runs:
        first = next(iter(runs[0].facts(Specimens)))
    pixels = torch.frombuffer(bytearray(base64.b64decode(first.samples[1])), dtype=torch.uint8).view(12, 12)
    assert first.labels[:3] == [0, 1, 2] and (pixels[4:8] == 255).all() and pixels.sum() == 255 * 48


def test_what_is_taken_of_other_inputs() -> None:
    rows = _seen(torch.randn(20, 30))
    assert rows is not None and rows["kind"] == "rows" and len(rows["samples"]) == 8 and len(rows["samples"][0]) == 12
    tokens = _seen(torch.arange(12).view(2, 6))
    assert tokens is not None and tokens["samples"] == [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11]]
    large = _seen(torch.full((2, 500, 300, 3), float("nan")))
    assert large is not None and max(large["size"][:2]) <= SIDE and large["size"][2] == 3
    assert _seen(torch.randn(2, 3, 4, 5, 6)) is None, "nobody would recognise it"


def test_labels_and_answers() -> None:
    scores = torch.tensor([[0.1, 0.9], [0.8, 0.2]])
    assert _answers(scores, torch.tensor([1, 1])) == [1.0, 0.0] and _labels(torch.tensor([1, 1])) == [1.0, 1.0]
    assert _labels(torch.tensor([[0.5], [2.0]])) == [0.5, 2.0]
    assert _labels(torch.zeros(2, 7)) == [], "one number stands for a sample, or none"
    assert _answers(torch.tensor([[0.25], [0.5]]), torch.zeros(2, 1)) == [pytest.approx(0.25), pytest.approx(0.5)]
