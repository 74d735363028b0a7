"""Online learning on a drifting stream: every chunk is scored first and learned from afterwards (prequential),
in order of arrival, with a small replay memory. No epochs, no shuffling across time."""
import random
from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def stream(chunks, size, seed):
    rng = np.random.default_rng(seed)
    w = rng.normal(size=8)
    axis = rng.normal(size=8)
    for i in range(chunks):
        w = w + 0.02 * axis
        x = rng.normal(size=(size, 8))
        y = (x @ w + 0.5 * x[:, 0] * x[:, 1] + rng.normal(0, 0.3, size) > 0).astype(np.float32)
        yield torch.tensor(x, dtype=torch.float32), torch.tensor(y)


class Memory:
    def __init__(self, capacity, seed):
        self.rows, self.rng = deque(maxlen=capacity), random.Random(seed)

    def add(self, x, y):
        self.rows.extend(zip(x, y))

    def draw(self, n):
        rows = self.rng.sample(list(self.rows), min(n, len(self.rows)))
        return torch.stack([r[0] for r in rows]), torch.stack([r[1] for r in rows])


def main():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1), nn.Flatten(0))
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    memory = Memory(600, 0)
    recent_acc, recent_loss = deque(maxlen=40), deque(maxlen=40)
    for i, (x, y) in enumerate(stream(400, 32, 0), start=1):
        net.eval()
        with torch.no_grad():
            recent_acc.append(((net(x) > 0) == (y > 0.5)).float().mean().item())
        net.train()
        if memory.rows:
            ox, oy = memory.draw(32)
            bx, by = torch.cat([x, ox]), torch.cat([y, oy])
        else:
            bx, by = x, y
        opt.zero_grad()
        loss = F.binary_cross_entropy_with_logits(net(bx), by)
        loss.backward()
        opt.step()
        memory.add(x, y)
        recent_loss.append(loss.item())
        if i % 50 == 0:
            print(f"chunk {i:3d} recent loss {np.mean(recent_loss):.4f} accuracy before learning {np.mean(recent_acc):.4f}")


if __name__ == "__main__":
    main()
