"""Digit classifier evaluated with an exponential moving average of its weights."""
import copy
import math

import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class ModelEMA:
    """Keeps a shadow copy that trails the online model."""

    def __init__(self, model, decay=0.99, ramp=100):
        self.shadow = copy.deepcopy(model).eval()
        for p in self.shadow.parameters():
            p.requires_grad_(False)
        self.decay, self.ramp, self.updates = decay, ramp, 0

    @torch.no_grad()
    def update(self, model):
        self.updates += 1
        d = self.decay * (1 - math.exp(-self.updates / self.ramp))
        for ema_p, p in zip(self.shadow.parameters(), model.parameters()):
            ema_p.mul_(d).add_(p, alpha=1 - d)
        for ema_b, b in zip(self.shadow.buffers(), model.buffers()):
            ema_b.copy_(b)


def make_net(width=96):
    return nn.Sequential(
        nn.Linear(64, width), nn.BatchNorm1d(width), nn.ReLU(),
        nn.Linear(width, width), nn.BatchNorm1d(width), nn.ReLU(),
        nn.Linear(width, 10))


def data(batch_size=48):
    x, y = load_digits(return_X_y=True)
    xt, xv, yt, yv = train_test_split(x / 16.0, y, test_size=0.25, random_state=0, stratify=y)
    t = TensorDataset(torch.tensor(xt, dtype=torch.float32), torch.tensor(yt))
    v = TensorDataset(torch.tensor(xv, dtype=torch.float32), torch.tensor(yv))
    return (DataLoader(t, batch_size=batch_size, shuffle=True, drop_last=True), DataLoader(v, batch_size=225))


@torch.no_grad()
def score(model, loader):
    model.eval()
    loss = hits = n = 0
    for x, y in loader:
        out = model(x)
        loss += nn.functional.cross_entropy(out, y, reduction="sum").item()
        hits += (out.argmax(1) == y).sum().item()
        n += len(y)
    return loss / n, hits / n


def main():
    torch.manual_seed(0)
    train_loader, val_loader = data()
    model = make_net()
    ema = ModelEMA(model)
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
    for epoch in range(10):
        model.train()
        running = steps = 0
        for x, y in train_loader:
            opt.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            opt.step()
            ema.update(model)
            running += loss.item()
            steps += 1
        val_loss, acc = score(model, val_loader)
        ema_loss, ema_acc = score(ema.shadow, val_loader)
        print(f"epoch {epoch:2d} train {running / steps:.4f} | val {val_loss:.4f} acc {acc:.4f} "
              f"| ema val {ema_loss:.4f} acc {ema_acc:.4f}")
    print(f"exporting EMA weights, accuracy {ema_acc:.4f}")


if __name__ == "__main__":
    main()
