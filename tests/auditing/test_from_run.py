"""The audit beside a run, and in parts that are merged."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn import datasets
from torch.utils.data import DataLoader, TensorDataset

import paramedic
from paramedic.audit.chunk import Chunk
from paramedic.audit.sketches.split import SplitSketch
from paramedic.audit.sources import open_source
from paramedic.auditing.examine import assemble, examine, verdict
from paramedic.rules.catalogue import all_rules
from workshop import Workshop

NOISY_DIGITS = """
import numpy as np, torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
digits, labels = load_digits(return_X_y=True)
order = np.random.default_rng(0).permutation(len(labels))
x, y = torch.tensor(digits[order] / 16, dtype=torch.float32), torch.tensor(labels[order])
y[:80] = (y[:80] + 1 + torch.arange(80) % 8) % 10
loader = DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True)
model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(6):
    for inputs, targets in loader:
        loss = nn.functional.cross_entropy(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print(f"last loss {loss.item():.6f}")
"""


def test_beside_a_run_the_training_itself_says_which_labels_are_wrong(shop: Workshop) -> None:
    script = shop.write("train.py", NOISY_DIGITS)
    done = shop.run(script, options=("--audit",))
    finding = next(finding for finding in done.found["findings"] if finding["code"] == "PM310")
    assert finding["severity"] == "warning" and "your training" in finding["why"]
    assert len(set(finding["samples"][:60]) & set(range(80))) >= 55
    assert "PM308" in done.found["rules"]["clear"], "the audit looked for copies as well"
    assert shop.python("train.py").stdout == done.stdout, "and the losses are the same"


OWN_SCALING = """
import numpy as np, torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

class Pixels(Dataset):
    def __len__(self):
        return 320
    def __getitem__(self, i):
        image = np.random.default_rng(i).integers(0, 100, (3, 8, 8)).astype(np.float32)
        image[:, 4 * (i % 2) : 4 * (i % 2) + 4] += 155
        return image, i % 2

class Scaled(nn.Module):
    def forward(self, x):
        return x / 127.5 - 1

torch.manual_seed(0)
model = nn.Sequential(Scaled(), nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(2):
    for inputs, targets in DataLoader(Pixels(), batch_size=32, shuffle=True):
        loss = nn.functional.cross_entropy(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


def test_pixels_that_the_model_scales_itself_are_a_note(shop: Workshop) -> None:
    done = shop.run(shop.write("train.py", OWN_SCALING), options=("--audit",))
    assert done.alarms == [] and done.found["verdict"] == "healthy", done.stderr
    assert "PM301" in done.codes


def test_the_order_within_a_batch_of_everything_does_not_matter() -> None:
    x, y = (torch.tensor(values) for values in datasets.load_iris(return_X_y=True))
    whole = paramedic.audit(DataLoader(TensorDataset(x.float(), y), batch_size=150))
    parts = paramedic.audit(DataLoader(TensorDataset(x.float(), y), batch_size=30))
    assert "PM306" not in str(whole) and "PM306" in str(parts)


def test_hard_samples_of_a_short_training_are_no_label_errors(shop: Workshop) -> None:
    clean = NOISY_DIGITS.replace("y[:80] = (y[:80] + 1 + torch.arange(80) % 8) % 10\n", "").replace(
        "range(6)", "range(4)"
    )
    assert clean.count("y[:80]") == 0 and clean.count("range(4)") == 1
    done = shop.run(shop.write("train.py", clean), options=("--audit",))
    assert [finding["code"] for finding in done.found["findings"] if finding["severity"] != "note"] == [], done.stderr


def test_labels_that_a_better_model_gives_as_well_are_not_doubted(shop: Workshop) -> None:
    """Overlapping classes: a small network is behind on them for a few epochs, a forest is not."""
    healthy = Path(__file__).parents[2] / "cases" / "PM318-train-validation-shift" / "healthy.py"
    done = shop.run(shop.write("train.py", healthy.read_text()), options=("--audit",))
    assert done.alarms == [] and "PM310" in done.codes, done.stderr


@pytest.mark.parametrize(
    "extra", [lambda i: i, lambda i: f"image{i}.png", lambda i: 0.5], ids=["index", "path", "weight"]
)
def test_what_stands_behind_the_label_is_not_the_target(extra: Callable[[int], object]) -> None:
    x, y = datasets.load_iris(return_X_y=True)
    data = [(row, int(label), extra(number)) for number, (row, label) in enumerate(zip(x, y, strict=True))]
    report = paramedic.audit(data)
    assert "3 classes of 50" in str(report) and report.verdict == "healthy"


def test_a_table_without_names_and_packed(tmp_path: Path) -> None:
    pytest.importorskip("polars")
    x, y = datasets.load_iris(return_X_y=True)
    with gzip.open(tmp_path / "iris.csv.gz", "wt") as stream:
        stream.writelines(",".join(map(str, [*row, label])) + "\n" for row, label in zip(x, y, strict=True))
    report = paramedic.audit(tmp_path / "iris.csv.gz")
    assert report.diagnosis.run.samples == 150 and "3 classes" in str(report)


def test_two_halves_merge_to_the_whole() -> None:
    """Shards that other processes read give the same findings."""
    x, y = datasets.load_wine(return_X_y=True)
    x = np.concatenate([x, x[:12]])
    x[3, 2] = np.nan
    source = open_source((x, np.concatenate([y, y[:12]])))
    halves = SplitSketch(), SplitSketch()
    for half, rows in zip(halves, (np.arange(100), np.arange(100, len(x))), strict=True):
        labels = np.concatenate([y, y[:12]])
        half.update(Chunk(indices=rows, inputs={"": x[rows]}, target=labels[rows]))
    halves[0].merge(halves[1])
    rules = [rule for rule in all_rules() if rule.on_audits is not None]
    merged = verdict(assemble({"train": source}, {"train": halves[0]}, None), rules, {})
    whole = paramedic.audit((x, np.concatenate([y, y[:12]]))).diagnosis
    assert [(f.code, f.samples) for f in merged.findings] == [(f.code, f.samples) for f in whole.findings]


def test_on_ray() -> None:
    ray = pytest.importorskip("ray")
    x, y = datasets.load_digits(return_X_y=True)
    x, y = np.concatenate([x, x[:30]]), np.concatenate([y, y[:30]])
    try:
        ray.init(num_cpus=1, log_to_driver=False, include_dashboard=False)
        _, there = examine({"train": open_source((x, y))}, all_rules(), on="ray")
    finally:
        ray.shutdown()
    _, here = examine({"train": open_source((x, y))}, all_rules())
    assert [(f.code, f.samples) for f in there.findings] == [(f.code, f.samples) for f in here.findings]
    assert "PM308" in [finding.code for finding in here.findings]
