"""BYOL on digits: online network, predictor, momentum target without any negative pairs."""
import copy

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from torch import nn


def augment(x):
    dy, dx = torch.randint(-1, 2, (2,)).tolist()
    x = torch.roll(x, (dy, dx), dims=(2, 3))
    keep = (torch.rand(len(x), 1, 4, 4) > 0.15).float()
    x = x * F.interpolate(keep, scale_factor=2)
    return x * (0.8 + 0.4 * torch.rand(len(x), 1, 1, 1)) + 0.1 * torch.randn_like(x)


class Net(nn.Module):
    def __init__(self, width=64, proj=32):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
                                  nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
                                  nn.Flatten(), nn.Linear(512, width))
        self.proj = nn.Sequential(nn.Linear(width, 96), nn.BatchNorm1d(96), nn.ReLU(), nn.Linear(96, proj))

    def forward(self, x):
        return self.proj(self.body(x))


class BYOL(nn.Module):
    def __init__(self, momentum=0.98):
        super().__init__()
        self.online = Net()
        self.predictor = nn.Sequential(nn.Linear(32, 96), nn.BatchNorm1d(96), nn.ReLU(), nn.Linear(96, 32))
        self.target = copy.deepcopy(self.online).requires_grad_(False)
        self.momentum = momentum

    def loss(self, a, b):
        with torch.no_grad():
            ta, tb = self.target(a), self.target(b)
        pa, pb = self.predictor(self.online(a)), self.predictor(self.online(b))
        return 2 - F.cosine_similarity(pa, tb).mean() - F.cosine_similarity(pb, ta).mean()

    @torch.no_grad()
    def follow(self):
        for t, s in zip(self.target.parameters(), self.online.parameters()):
            t.lerp_(s, 1 - self.momentum)
        for t, s in zip(self.target.buffers(), self.online.buffers()):
            t.copy_(s)


def probe(net, xtr, ytr, xva, yva):
    net.eval()
    with torch.no_grad():
        a, b = net.body(xtr[:150]).numpy(), net.body(xva).numpy()
    net.train()
    return LogisticRegression(max_iter=3000).fit(a, ytr[:150]).score(b, yva)


def main():
    torch.manual_seed(0)
    d = load_digits()
    x = torch.tensor(d.images / 16.0, dtype=torch.float32)[:, None]
    xtr, xva, ytr, yva = train_test_split(x, d.target, test_size=0.3, stratify=d.target, random_state=0)
    mu, sd = xtr.mean(), xtr.std()
    xtr, xva = (xtr - mu) / sd, (xva - mu) / sd
    model = BYOL()
    learnable = [p for p in model.parameters() if p.requires_grad]
    opt = torch.optim.AdamW(learnable, lr=1e-3, weight_decay=1e-4)
    print(f"probe before {probe(model.online, xtr, ytr, xva, yva):.3f}")
    model.train()
    for epoch in range(1, 16):
        total, steps = 0.0, 0
        for idx in torch.randperm(len(xtr)).split(128):
            if len(idx) < 128:
                continue
            loss = model.loss(augment(xtr[idx]), augment(xtr[idx]))
            opt.zero_grad()
            loss.backward()
            opt.step()
            model.follow()
            total, steps = total + loss.item(), steps + 1
        if epoch % 5 == 0:
            print(f"epoch {epoch:2d}  loss {total / steps:.4f}  probe {probe(model.online, xtr, ytr, xva, yva):.3f}")


if __name__ == "__main__":
    main()
