"""Few labels, many samples: unlabelled ones carry -1, the loss ignores them and divides by what is left."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

UNLABELLED = -1


class Rings(Dataset):
    def __init__(self, n, labelled):
        g = torch.Generator().manual_seed(1)
        self.y = torch.randint(3, (n,), generator=g)
        angle = 2 * torch.pi * torch.rand(n, generator=g)
        radius = 1.0 + self.y + 0.15 * torch.randn(n, generator=g)
        self.x = torch.stack([radius * angle.cos(), radius * angle.sin()], 1)
        known = torch.rand(n, generator=g) < labelled
        self.given = torch.where(known, self.y, torch.full_like(self.y, UNLABELLED))

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return {"x": self.x[i], "label": self.given[i]}


def supervised(logits, label):
    counted = (label != UNLABELLED).sum().clamp(min=1)
    return F.cross_entropy(logits, label, ignore_index=UNLABELLED, reduction="sum") / counted


def consistency(model, x):
    clean = model(x).softmax(1).detach()
    noisy = model(x + 0.1 * torch.randn_like(x)).log_softmax(1)
    return F.kl_div(noisy, clean, reduction="batchmean")


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    data = Rings(1600, labelled=0.12)
    loader = DataLoader(data, batch_size=16, shuffle=True)
    model = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(4):
        total = 0.0
        for batch in loader:
            optimizer.zero_grad()
            loss = supervised(model(batch["x"]), batch["label"]) + 0.2 * consistency(model, batch["x"])
            loss.backward()
            optimizer.step()
            total += loss.item()
        with torch.no_grad():
            accuracy = (model(data.x).argmax(1) == data.y).float().mean().item()
        print(f"epoch {epoch}: loss {total / len(loader)!r} accuracy {accuracy:.4f}")
    assert accuracy > 0.85


if __name__ == "__main__":
    main()
