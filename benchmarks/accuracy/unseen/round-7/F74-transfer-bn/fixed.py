"""Linear probe on a frozen backbone; the backbone is also served for the old task."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits


def load():
    d = load_digits()
    x = torch.tensor(d.images, dtype=torch.float32).unsqueeze(1) / 16
    y = torch.tensor(d.target)
    g = torch.Generator().manual_seed(0)
    p = torch.randperm(len(y), generator=g)
    return x[p], y[p]


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.Flatten(),
        )

    def forward(self, x):
        return self.net(x)


class Classifier(nn.Module):
    def __init__(self, backbone, classes):
        super().__init__()
        self.backbone = backbone
        self.head = nn.Linear(32 * 16, classes)

    def forward(self, x):
        return self.head(self.backbone(x))


def run_epoch(model, x, y, opt, bs=32):
    total = 0.0
    perm = torch.randperm(len(x))
    for i in range(0, len(x) - bs + 1, bs):
        j = perm[i:i + bs]
        loss = F.cross_entropy(model(x[j]), y[j])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    return total / (len(x) // bs)


@torch.no_grad()
def accuracy(model, x, y):
    model.eval()
    return (model(x).argmax(1) == y).float().mean().item()


def main():
    torch.manual_seed(1)
    x, y = load()
    base = Classifier(Backbone(), 10)
    opt = torch.optim.Adam(base.parameters(), lr=2e-3)
    for epoch in range(6):
        base.train()
        run_epoch(base, x[:1100], y[:1100], opt)
    print(f"digit task accuracy {accuracy(base, x[1400:], y[1400:]):.3f}")

    x_ink = 1.0 - 0.5 * x
    parity = (y % 2)
    probe = Classifier(base.backbone, 2)
    for p in probe.backbone.parameters():
        p.requires_grad_(False)
    opt = torch.optim.Adam(probe.head.parameters(), lr=2e-3)
    for epoch in range(8):
        probe.train()
        probe.backbone.eval()
        loss = run_epoch(probe, x_ink[1100:1400], parity[1100:1400], opt)
        if epoch % 2 == 1:
            print(f"probe epoch {epoch} loss {loss:.4f} parity acc {accuracy(probe, x_ink[1400:], parity[1400:]):.3f}")
    print(f"digit task accuracy after the probe {accuracy(base, x[1400:], y[1400:]):.3f}")


if __name__ == "__main__":
    main()
