"""Loaders of unmodified scripts."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.audit.unseen.case import Case, picked
from benchmarks.audit.unseen.pictures import coco

Random = np.random.Generator

TABLE = """
import numpy as np, torch
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler
from torch.utils.data import DataLoader, TensorDataset

x, y = load_breast_cancer(return_X_y=True)
order = np.random.default_rng(1).permutation(len(y))
x, y = x[order], y[order]
train, val = slice(0, 400), slice(400, None)
{prepare}
def tensors(x, y):
    return TensorDataset(torch.tensor(x, dtype=torch.float32), torch.tensor(y))
train_loader = DataLoader(tensors(tx, y[train]), batch_size=32, shuffle=True)
val_loader = DataLoader(tensors(vx, y[val]), batch_size=32)
net = torch.nn.Sequential(torch.nn.Linear(30, 32), torch.nn.ReLU(), torch.nn.Linear(32, 2))
optimizer = torch.optim.Adam(net.parameters(), 1e-3)
for epoch in range(2):
    for a, b in train_loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(a), b).backward()
        optimizer.step()
    with torch.no_grad():
        print(sum((net(a).argmax(1) == b).sum().item() for a, b in val_loader) / len(y[val]))
"""

BOXES = """
import json, numpy as np, torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset

class Boxes(Dataset):
    def __init__(self, path):
        found = json.load(open(path))
        self.images = found["images"]
        self.notes = {{i["id"]: [n for n in found["annotations"] if n["image_id"] == i["id"]] for i in self.images}}
    def __len__(self):
        return len(self.images)
    def __getitem__(self, i):
        image = self.images[i]
        picture = torch.from_numpy(np.array(Image.open("img/" + image["file_name"]))).permute(2, 0, 1) / 255
        boxes = torch.tensor([n["bbox"] for n in self.notes[image["id"]]], dtype=torch.float32)
        boxes[:, 2:] += boxes[:, :2]
        labels = torch.tensor([n["category_id"] for n in self.notes[image["id"]]])
        return picture, {{"boxes": boxes, "labels": labels, "file_name": image["file_name"]}}

loader = DataLoader(Boxes("boxes.json"), batch_size=4, shuffle=True, collate_fn=lambda batch: tuple(zip(*batch)))
net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, stride=4), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(4),
                          torch.nn.Flatten(), torch.nn.Linear(128, 8))
optimizer = torch.optim.Adam(net.parameters(), 1e-3)
for images, targets in loader:
    wanted = torch.stack([t["boxes"].flatten() for t in targets]) / 96
    optimizer.zero_grad()
    torch.nn.functional.smooth_l1_loss(net(torch.stack(images)), wanted).backward()
    optimizer.step()
"""


def _script(here: Path, text: str, **parts: str) -> tuple[str, ...]:
    (here / "train.py").write_text(text.format(**parts))
    return ("--script", "train.py")


FITTED = "scaler = StandardScaler().fit(x[train])\ntx, vx = scaler.transform(x[train]), scaler.transform(x[val])"


def nan_reaches_the_model(here: Path, random: Random) -> Case:
    rows = sorted(picked(random, 400, 5))
    prepare = f"{FITTED}\ntx[{rows}, 7] = np.nan"
    return Case(args=_script(here, TABLE, prepare=prepare), codes=("PM105",), rows=frozenset(rows))


def loader_scaled_by_itself(here: Path, random: Random) -> Case:
    prepare = "tx, vx = StandardScaler().fit_transform(x[train]), StandardScaler().fit_transform(x[val])"
    return Case(args=_script(here, TABLE, prepare=prepare), codes=("PM314",))


def target_left_in_the_inputs(here: Path, random: Random) -> Case:
    prepare = f"{FITTED}\ntx[:, 29], vx[:, 29] = 2.0 * y[train] - 1, 2.0 * y[val] - 1"
    return Case(args=_script(here, TABLE, prepare=prepare), codes=("PM324",), columns=("29",))


def boxes_of_a_loader(here: Path, random: Random) -> Case:
    import json

    found = coco(here, random)
    bad = sorted(picked(random, 50, 5))
    for number in bad[:3]:
        found["annotations"][2 * number]["bbox"][0] = 88
    for number in bad[3:]:
        found["annotations"][2 * number]["bbox"][2] = 0
    (here / "boxes.json").write_text(json.dumps(found))
    files = tuple(f"{number:05d}.jpg" for number in bad)
    return Case(args=_script(here, BOXES), codes=("PM312",), rows=frozenset(bad), files=files)


FAULTS = (nan_reaches_the_model, loader_scaled_by_itself, target_left_in_the_inputs, boxes_of_a_loader)
