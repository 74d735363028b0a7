"""Colour patches stored as NHWC and reshaped into NCHW."""
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

rng = np.random.default_rng(0)
N, S = 600, 16
labels = rng.integers(0, 4, N)
images = np.zeros((N, S, S, 3), np.float32)
for i, k in enumerate(labels):
    yy, xx = np.mgrid[0:S, 0:S]
    base = [np.sin(xx / 2.0), np.sin(yy / 2.0), np.sin((xx + yy) / 2.5), np.cos((xx - yy) / 2.5)][k]
    images[i] = 0.5 + 0.35 * base[..., None] * rng.uniform(0.4, 1, 3) + 0.05 * rng.standard_normal((S, S, 3))
images = np.clip(images, 0, 1)

X = torch.from_numpy(images).permute(0, 3, 1, 2).contiguous()
Y = torch.from_numpy(labels)
torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                    nn.Flatten(), nn.Linear(256, 4))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
dl = DataLoader(TensorDataset(X[:480], Y[:480]), 24, shuffle=True)
vl = DataLoader(TensorDataset(X[480:], Y[480:]), 60)
for epoch in range(4):
    net.train()
    for x, y in dl:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        print(epoch, loss.item(), sum((net(x).argmax(1) == y).sum().item() for x, y in vl) / 120)
