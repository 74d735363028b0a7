import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
np.random.seed(0)
torch.set_num_threads(1)


def tiles(n, s=16):
    """uint8 tiles, height x width x rgb; soil, crop or water patch on a grey ground"""
    yy, xx = np.mgrid[0:s, 0:s]
    colour = np.array([[0.75, 0.45, 0.4], [0.4, 0.75, 0.45], [0.45, 0.4, 0.75]])
    out = np.full((n, s, s, 3), 0.5)
    lab = np.random.randint(0, 3, n)
    for i, c in enumerate(lab):
        cy, cx, r = np.random.randint(4, 12), np.random.randint(4, 12), np.random.randint(3, 6)
        patch = np.hypot(yy - cy, xx - cx) < r
        out[i][patch] = colour[c]
        out[i] = out[i] * np.random.uniform(0.7, 1.2) + np.random.randn(s, s, 3) * 0.12
    return (out.clip(0, 1) * 255).astype(np.uint8), lab


def to_tensor(batch):
    x = batch.astype(np.float32) / 127.5 - 1.0
    n, h, w, c = x.shape
    return torch.from_numpy(x.transpose(0, 3, 1, 2).copy())


class TileNet(nn.Module):
    def __init__(self, classes=3):
        super().__init__()
        self.c1 = nn.Conv2d(3, 12, 3, padding=1)
        self.c2 = nn.Conv2d(12, 24, 3, padding=1)
        self.head = nn.Linear(24, classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.c1(x)), 2)
        x = F.relu(self.c2(x)).mean((2, 3))
        return self.head(x)


xtr, ytr = tiles(320)
xva, yva = tiles(200)
model = TileNet()
optim = torch.optim.Adam(model.parameters(), lr=4e-3)
for ep in range(8):
    idx = np.random.permutation(len(xtr))
    for k in range(0, len(idx), 32):
        b = idx[k:k + 32]
        loss = F.cross_entropy(model(to_tensor(xtr[b])), torch.from_numpy(ytr[b]))
        optim.zero_grad()
        loss.backward()
        optim.step()
    with torch.no_grad():
        acc = (model(to_tensor(xva)).argmax(1).numpy() == yva).mean()
    print("epoch", ep, "loss", round(loss.item(), 3), "val", round(float(acc), 3))
