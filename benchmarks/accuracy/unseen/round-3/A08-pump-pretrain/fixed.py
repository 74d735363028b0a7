"""Two phases: masked reconstruction on unlabelled pump data, then a classifier on few labels."""
import os
import tempfile

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CKPT = os.path.join(tempfile.gettempdir(), "pump_pretrain.pt")
N_SENSORS, N_STATES = 60, 5


def plant(seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(0, 1, (8, 24)), rng.normal(0, 1, (24, N_SENSORS)), rng.normal(0, 1.6, (N_STATES, 8))


def readings(n, seed):
    a, b, centres = plant()
    rng = np.random.default_rng(seed)
    state = rng.integers(0, N_STATES, n)
    z = centres[state] + rng.normal(0, 0.9, (n, 8))
    x = np.tanh(z @ a * 0.5) @ b / 3 + rng.normal(0, 1.0, (n, N_SENSORS))
    return torch.tensor(x, dtype=torch.float32), torch.tensor(state)


class Encoder(nn.Module):
    def __init__(self, dim=10):
        super().__init__()
        self.l1 = nn.Linear(N_SENSORS, 96)
        self.l2 = nn.Linear(96, dim)

    def forward(self, x):
        return self.l2(F.relu(self.l1(x)))


class MaskedAutoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        self.decoder = nn.Sequential(nn.Linear(10, 96), nn.ReLU(), nn.Linear(96, N_SENSORS))

    def forward(self, x):
        return self.decoder(self.encoder(x))


class StateClassifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = Encoder()
        self.head = nn.Linear(10, N_STATES)

    def forward(self, x):
        return self.head(self.backbone(x))


def pretrain(epochs=25):
    x, _ = readings(3000, seed=1)
    net = MaskedAutoencoder()
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    for epoch in range(epochs):
        total = 0.0
        for idx in torch.randperm(len(x)).split(100):
            clean = x[idx]
            keep = (torch.rand_like(clean) > 0.3).float()
            loss = F.mse_loss(net(clean * keep), clean)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        if epoch % 8 == 0:
            print(f"pretrain {epoch}: mse {total / (len(x) // 100):.3f}")
    torch.save({"model": net.state_dict(), "epochs": epochs}, CKPT)


def finetune(epochs=60):
    x, y = readings(60, seed=2)
    xt, yt = readings(1500, seed=3)
    clf = StateClassifier()
    state = {k.replace("encoder.", "backbone."): v for k, v in torch.load(CKPT)["model"].items()}
    clf.load_state_dict(state, strict=False)
    # few labels: the backbone stays as it is, only the head is fitted
    for p in clf.backbone.parameters():
        p.requires_grad = False
    opt = torch.optim.Adam(clf.head.parameters(), lr=2e-2)
    for epoch in range(epochs):
        clf.train()
        for idx in torch.randperm(len(x)).split(20):
            loss = F.cross_entropy(clf(x[idx]), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
        if (epoch + 1) % 20 == 0:
            clf.eval()
            with torch.no_grad():
                acc = (clf(xt).argmax(1) == yt).float().mean().item()
            print(f"finetune {epoch + 1}: loss {loss.item():.3f} test accuracy {acc:.3f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    pretrain()
    finetune()
