"""FixMatch in one dimension less: confident predictions on weak views teach strong views."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass(frozen=True)
class Settings:
    labelled: int = 60
    unlabelled: int = 2000
    mu: int = 4
    batch: int = 32
    threshold: float = 0.9
    steps: int = 250


def blobs(n, generator):
    y = torch.randint(4, (n,), generator=generator)
    centres = torch.tensor([[2.0, 0], [0, 2], [-2, 0], [0, -2]]).repeat(1, 5)
    return centres[y] + 0.9 * torch.randn(n, 10, generator=generator), y


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(10, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 4))

    def forward(self, x):
        return self.layers(x)


def weak(x):
    return x + 0.1 * torch.randn_like(x)


def strong(x):
    return (x + 0.5 * torch.randn_like(x)) * (torch.rand_like(x) > 0.2)


def train(cfg):
    torch.manual_seed(0)
    g = torch.Generator().manual_seed(0)
    x_l, y_l = blobs(cfg.labelled, g)
    x_u, y_u = blobs(cfg.unlabelled, g)
    x_t, y_t = blobs(1000, g)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.03, momentum=0.9, nesterov=True)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, cfg.steps)
    for step in range(cfg.steps):
        model.train()
        rows = torch.randint(cfg.labelled, (cfg.batch,))
        loss_l = F.cross_entropy(model(weak(x_l[rows])), y_l[rows])
        rows = torch.randint(cfg.unlabelled, (cfg.batch * cfg.mu,))
        with torch.no_grad():
            confidence, pseudo = model(weak(x_u[rows])).softmax(1).max(1)
            mask = (confidence >= cfg.threshold).float()
            purity = ((pseudo == y_u[rows]).float() * mask).sum() / mask.sum().clamp(min=1)
        loss_u = (F.cross_entropy(model(strong(x_u[rows])), pseudo, reduction="none") * mask).mean()
        optimizer.zero_grad()
        (loss_l + loss_u).backward()
        optimizer.step()
        scheduler.step()
        if step % 50 == 0:
            print(step, loss_l.item(), loss_u.item(), f"mask {mask.mean():.3f} purity {purity:.3f}")
    model.eval()
    with torch.no_grad():
        accuracy = (model(x_t).argmax(1) == y_t).float().mean().item()
    print("accuracy", accuracy)
    assert accuracy > 0.95


if __name__ == "__main__":
    torch.set_num_threads(1)
    train(Settings())
