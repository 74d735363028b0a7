"""Digits CNN with an exponential moving average of the weights used for validation."""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset


class ModelEMA:
    def __init__(self, model, decay=0.97):
        self.module = copy.deepcopy(model).eval()
        for p in self.module.parameters():
            p.requires_grad_(False)
        self.decay = decay

    @torch.no_grad()
    def update(self, model):
        for e, p in zip(self.module.parameters(), model.parameters()):
            e.mul_(self.decay).add_(p, alpha=1 - self.decay)


def conv_bn(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU())


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = conv_bn(1, 16)
        self.mid = conv_bn(16, 32)
        self.head = nn.Linear(32 * 4, 10)

    def forward(self, x):
        x = F.max_pool2d(self.stem(x), 2)
        x = F.max_pool2d(self.mid(x), 2)
        return self.head(x.flatten(1))


@torch.no_grad()
def evaluate(net, x, y):
    net.eval()
    out = net(x)
    return F.cross_entropy(out, y).item(), (out.argmax(1) == y).float().mean().item()


def main():
    torch.manual_seed(0)
    d = load_digits()
    x = torch.tensor(d.images, dtype=torch.float32).unsqueeze(1)
    x = (x - 4.9) / 16
    y = torch.tensor(d.target)
    p = torch.randperm(len(y))
    xtr, ytr, xva, yva = x[p[:1300]], y[p[:1300]], x[p[1300:]], y[p[1300:]]
    loader = DataLoader(TensorDataset(xtr, ytr), batch_size=32, shuffle=True)
    net = Net()
    ema = ModelEMA(net)
    opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4)
    for epoch in range(8):
        net.train()
        total = 0.0
        for xb, yb in loader:
            opt.zero_grad()
            loss = F.cross_entropy(net(xb), yb)
            loss.backward()
            opt.step()
            ema.update(net)
            total += loss.item()
        vl, va = evaluate(ema.module, xva, yva)
        print(f"epoch {epoch} train loss {total / len(loader):.4f} | ema val loss {vl:.4f} acc {va:.3f}")


if __name__ == "__main__":
    main()
