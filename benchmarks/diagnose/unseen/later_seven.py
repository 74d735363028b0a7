"""Sensor windows: is the machine about to fail?"""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

WINDOW = 20


class Windows(Dataset):
    """Windows of a long recording, and whether the temperature rises within them."""

    def __init__(self, n=900):
        rng = np.random.default_rng(1)
        self.signal = np.cumsum(rng.normal(size=n + WINDOW)).astype(np.float32)
        self.labels = (self.signal[WINDOW : n + WINDOW] > self.signal[:n]).astype(np.int64)
        self.days = 7

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        start = i % self.days
        window = self.signal[start : start + WINDOW]
        return torch.from_numpy(window - window[0]), int(self.labels[i])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv1d(1, 16, 5), nn.ReLU(), nn.Conv1d(16, 16, 5), nn.ReLU())
        self.out = nn.Linear(16 * 12, 2)

    def forward(self, x):
        return self.out(self.conv(x[:, None]).flatten(1))


torch.manual_seed(0)
net = Net()
opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
loader = DataLoader(Windows(), batch_size=30, shuffle=True)
for epoch in range(8):
    right = 0
    for x, y in loader:
        out = net(x)
        loss = nn.functional.cross_entropy(out, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        right += (out.argmax(1) == y).sum().item()
    print(epoch, right / 900)
