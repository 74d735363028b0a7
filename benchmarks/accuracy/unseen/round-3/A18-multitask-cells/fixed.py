"""One backbone, three heads: cell type, cell count and mean radius from a small microscopy crop."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class Crops(Dataset):
    def __init__(self, n, seed, size=28):
        rng = np.random.default_rng(seed)
        self.items = []
        yy, xx = np.mgrid[0:size, 0:size]
        for _ in range(n):
            kind, count, radius = rng.integers(0, 3), rng.integers(1, 5), rng.uniform(1.5, 3.5)
            img = rng.normal(0, 0.1, (size, size))
            for _ in range(count):
                cx, cy = rng.uniform(4, size - 4, 2)
                d = np.hypot(xx - cx, yy - cy)
                if kind == 0:
                    img += 1.0 * (d < radius)
                elif kind == 1:
                    img += 1.0 * (np.abs(d - radius) < 0.8)
                else:
                    img += 1.0 * (d < radius) - 1.4 * (d < radius * 0.5)
            self.items.append((img[None].astype(np.float32), int(kind), np.float32(count), np.float32(radius)))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        img, kind, count, radius = self.items[i]
        return {"image": img, "kind": kind, "count": count, "radius": radius}


class MultiHead(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Conv2d(1, 16, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 24, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
            nn.Linear(24 * 49, 64), nn.ReLU(),
        )
        self.heads = nn.ModuleDict({"kind": nn.Linear(64, 3), "count": nn.Linear(64, 1), "radius": nn.Linear(64, 1)})

    def forward(self, x):
        z = self.trunk(x)
        return {k: h(z).squeeze(-1) if h.out_features == 1 else h(z) for k, h in self.heads.items()}


class BalancedLoss:
    """The regression losses live on very different scales, so each one is divided by its own magnitude."""

    def __init__(self, weights):
        self.weights = weights

    def __call__(self, out, batch):
        terms = {
            "kind": F.cross_entropy(out["kind"], batch["kind"]),
            "count": F.smooth_l1_loss(out["count"], batch["count"]),
            "radius": F.smooth_l1_loss(out["radius"], batch["radius"]),
        }
        total = terms["kind"]
        for name in ("count", "radius"):
            scale = terms[name].detach().clamp_min(1e-3)
            total = total + self.weights[name] * terms[name] / scale
        return total, {k: v.item() for k, v in terms.items()}


def evaluate(model, loader):
    model.eval()
    agg = {"kind": [], "count": [], "radius": []}
    with torch.no_grad():
        for b in loader:
            out = model(b["image"])
            agg["kind"].append((out["kind"].argmax(1) == b["kind"]).float())
            for k in ("count", "radius"):
                agg[k].append((out[k] - b[k]).abs())
    return {k: torch.cat(v).mean().item() for k, v in agg.items()}


def main():
    torch.manual_seed(0)
    train = DataLoader(Crops(1500, 0), batch_size=50, shuffle=True)
    test = DataLoader(Crops(300, 1), batch_size=100)
    model = MultiHead()
    criterion = BalancedLoss({"count": 0.2, "radius": 0.2})
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(8):
        model.train()
        for batch in train:
            opt.zero_grad()
            loss, parts = criterion(model(batch["image"]), batch)
            loss.backward()
            opt.step()
        m = evaluate(model, test)
        print(f"epoch {epoch}: loss {loss.item():.3f} | kind acc {m['kind']:.3f}  count MAE {m['count']:.3f}  radius MAE {m['radius']:.3f}")


if __name__ == "__main__":
    main()
