"""Glyphs from an old printer, in minibatches cut by hand: whole numbers are divided before they become floats."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

KINDS = 5

torch.manual_seed(0)
torch.set_num_threads(1)
rng = np.random.default_rng(1)
glyphs = rng.random((KINDS, 1, 10, 10)) > 0.6


def scans(n: int) -> tuple[Tensor, Tensor]:
    kind = rng.integers(0, KINDS, n)
    pixels = (glyphs[kind] * 170 + rng.integers(0, 80, (n, 1, 10, 10))).astype(np.uint8)
    return torch.from_numpy(pixels // 255).float(), torch.from_numpy(kind)


x_train, y_train = scans(600)
x_valid, y_valid = scans(200)
model = nn.Sequential(nn.Flatten(), nn.Linear(100, 48), nn.ReLU(), nn.Linear(48, KINDS))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(8):
    model.train()
    for rows in torch.randperm(len(x_train)).split(40):
        loss = F.cross_entropy(model(x_train[rows]), y_train[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        accuracy = (model(x_valid).argmax(1) == y_valid).float().mean().item()
    print(f"epoch {epoch}  loss {loss.item():.3f}  valid accuracy {accuracy:.3f}")
