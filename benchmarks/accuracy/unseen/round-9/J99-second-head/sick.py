"""One feature extractor, two heads. Head A reads digits from scans; head B is added later for photos of the
same digits (brighter, flatter) and must not disturb head A, which stays in production."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset


class Backbone(nn.Sequential):
    def __init__(self):
        super().__init__(
            nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
            nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(512, 64), nn.BatchNorm1d(64), nn.ReLU())


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = Backbone()
        self.heads = nn.ModuleDict({"scan": nn.Linear(64, 10)})

    def forward(self, x, task):
        return self.heads[task](self.backbone(x))

    def add_task(self, name, classes):
        self.heads[name] = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, classes))

    def lock(self):
        for m in (self.backbone, self.heads["scan"]):
            m.requires_grad_(False)


def loaders(x, y, seed, batch):
    g = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(y), generator=g)
    cut = int(0.75 * len(y))
    tr, va = order[:cut], order[cut:]
    return (DataLoader(TensorDataset(x[tr], y[tr]), batch, shuffle=True, drop_last=True),
            DataLoader(TensorDataset(x[va], y[va]), 256))


@torch.no_grad()
def accuracy(model, loader, task):
    model.eval()
    hit = sum((model(x, task).argmax(1) == y).sum().item() for x, y in loader)
    return hit / len(loader.dataset)


def train_task(model, task, train, watch, epochs, lr):
    params = [p for p in model.parameters() if p.requires_grad]
    opt = torch.optim.Adam(params, lr=lr)
    for epoch in range(epochs):
        model.train()
        tot = 0.0
        for x, y in train:
            opt.zero_grad()
            loss = F.cross_entropy(model(x, task), y)
            loss.backward()
            opt.step()
            tot += loss.item()
        scores = "  ".join(f"{k} acc {accuracy(model, v, k):.3f}" for k, v in watch.items())
        print(f"[{task}] epoch {epoch} loss {tot / len(train):.4f}  {scores}")


def main():
    torch.manual_seed(8)
    d = load_digits()
    y = torch.tensor(d.target)
    scans = (torch.tensor(d.images, dtype=torch.float32)[:, None] / 16.0 - 0.3) / 0.4
    photos = 0.6 * scans + 1.2 + 0.1 * torch.randn_like(scans)
    scan_tr, scan_va = loaders(scans, y, 1, 64)
    photo_tr, photo_va = loaders(photos, y, 1, 32)
    model = TwoHeads()
    train_task(model, "scan", scan_tr, {"scan": scan_va}, epochs=4, lr=2e-3)
    model.lock()
    model.add_task("photo", 10)
    train_task(model, "photo", photo_tr, {"photo": photo_va, "scan": scan_va}, epochs=6, lr=2e-3)


if __name__ == "__main__":
    main()
