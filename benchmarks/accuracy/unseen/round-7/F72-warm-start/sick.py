"""Pretrain an encoder on plentiful tones, save it, and warm-start a small-data classifier from the file."""
import os
import tempfile

import torch
import torch.nn as nn
import torch.nn.functional as F


def signals(n, seed, classes, base):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, classes, (n,), generator=g)
    t = torch.arange(96) / 96
    f = base + 1.5 * y.float()
    ph = 6.2832 * torch.rand(n, generator=g)
    x = torch.sin(6.2832 * f[:, None] * t + ph[:, None]) + 0.7 * torch.randn(n, 96, generator=g)
    return x[:, None], y


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv1d(1, 24, 17, stride=2, padding=8)
        self.conv2 = nn.Conv1d(24, 32, 9, stride=2, padding=4)

    def forward(self, x):
        return F.relu(self.conv2(F.relu(self.conv1(x)))).mean(-1)


class Model(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.encoder = Encoder()
        self.head = nn.Linear(32, classes)

    def forward(self, x):
        return self.head(self.encoder(x))


class Wrapper(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.module = model

    def forward(self, *args):
        return self.module(*args)


def fit(model, x, y, epochs, params, lr):
    opt = torch.optim.Adam(params, lr=lr)
    for epoch in range(epochs):
        model.train()
        perm = torch.randperm(len(x))
        for i in range(0, len(x), 32):
            j = perm[i:i + 32]
            loss = F.cross_entropy(model(x[j]), y[j])
            opt.zero_grad()
            loss.backward()
            opt.step()
    return loss.item()


def acc(model, x, y):
    model.eval()
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


def main():
    torch.manual_seed(0)
    path = os.path.join(tempfile.mkdtemp(), "encoder.pt")
    big = Wrapper(Model(8))
    x, y = signals(1500, 0, 8, base=4)
    print(f"pretrain loss {fit(big, x, y, 8, big.parameters(), 3e-3):.4f} acc {acc(big, x, y):.3f}")
    torch.save(big.state_dict(), path)

    model = Model(4)
    state = {k: v for k, v in torch.load(path).items() if "head" not in k}
    model.load_state_dict(state, strict=False)
    for p in model.encoder.parameters():
        p.requires_grad = False
    xs, ys = signals(80, 1, 4, base=5)
    xt, yt = signals(400, 2, 4, base=5)
    for stage in range(4):
        l = fit(model, xs, ys, 10, model.head.parameters(), 1e-2)
        print(f"fine-tune epoch {10 * (stage + 1)} loss {l:.4f} test acc {acc(model, xt, yt):.3f}")


if __name__ == "__main__":
    main()
