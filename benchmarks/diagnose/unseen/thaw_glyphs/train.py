"""
Transfer on the small digits:
  stage 0  train a backbone on digits 0-4
  stage 1  new head for digits 5-9, backbone frozen
  stage 2  thaw the last block with a smaller learning rate
"""
import copy

import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.set_num_threads(1)
torch.manual_seed(8)


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.early = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2))
        self.late = nn.Sequential(nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU())

    def forward(self, x):
        return self.late(self.early(x)).flatten(1)


class Classifier(nn.Module):
    def __init__(self, backbone, classes):
        super().__init__()
        self.backbone = backbone
        self.frozen = []
        self.head = nn.Sequential(nn.Dropout(0.2), nn.Linear(32 * 16, classes))

    def forward(self, x):
        return self.head(self.backbone(x))

    def freeze(self, *parts):
        self.frozen = list(parts)
        for p in self.backbone.parameters():
            p.requires_grad_(True)
        for part in parts:
            for p in part.parameters():
                p.requires_grad_(False)

    def train(self, mode=True):
        super().train(mode)
        for part in self.frozen:
            part.eval()
        return self


def loaders(lo, hi):
    d = load_digits()
    keep = (d.target >= lo) & (d.target <= hi)
    x = torch.tensor(d.images[keep], dtype=torch.float32).unsqueeze(1) / 16
    y = torch.tensor(d.target[keep] - lo)
    ds = TensorDataset(x, y)
    n = int(0.75 * len(ds))
    tr, va = random_split(ds, [n, len(ds) - n], generator=torch.Generator().manual_seed(0))
    return DataLoader(tr, batch_size=32, shuffle=True), DataLoader(va, batch_size=128)


def evaluate(model, loader):
    model.eval()
    good = n = 0
    with torch.inference_mode():
        for x, y in loader:
            good += (model(x).argmax(1) == y).sum().item()
            n += len(y)
    return good / n


def fit(model, groups, tr, va, epochs, tag):
    opt = torch.optim.AdamW(groups, weight_decay=1e-2)
    best, best_state = 0.0, None
    for e in range(epochs):
        model.train()
        tot = 0.0
        for x, y in tr:
            loss = nn.functional.cross_entropy(model(x), y, label_smoothing=0.1)
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
            tot += loss.item()
        acc = evaluate(model, va)
        if acc > best:
            best, best_state = acc, copy.deepcopy(model.state_dict())
        print(f"{tag} epoch {e} loss {tot / len(tr):.4f} val acc {acc:.4f}")
    model.load_state_dict(best_state)


backbone = Backbone()
tr, va = loaders(0, 4)
source = Classifier(backbone, 5)
fit(source, [{"params": source.parameters(), "lr": 2e-3}], tr, va, 5, "source")

tr, va = loaders(5, 9)
target = Classifier(backbone, 5)
target.freeze(backbone.early, backbone.late)
fit(target, [{"params": target.head.parameters(), "lr": 2e-3}], tr, va, 5, "head  ")

target.freeze(backbone.early)
fit(target, [{"params": backbone.late.parameters(), "lr": 2e-4}, {"params": target.head.parameters(), "lr": 1e-3}],
    tr, va, 6, "thaw  ")
print(f"final accuracy on digits 5-9: {evaluate(target, va):.4f}")
