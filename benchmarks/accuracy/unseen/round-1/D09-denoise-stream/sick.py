import math
import torch
import torch.nn as nn
from torch.utils.data import IterableDataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(4)


def clean_waves(n, length=48):
    t = torch.linspace(0, 1, length)
    f = torch.rand(n, 1) * 3 + 1
    ph = torch.rand(n, 1) * 2 * math.pi
    return torch.sin(2 * math.pi * f * t + ph)


class NoisyWaves(IterableDataset):
    def __init__(self, signals, sigma, seed):
        self.signals = signals
        self.sigma = sigma
        self.seed = seed

    def __iter__(self):
        gen = torch.Generator().manual_seed(self.seed)  # <- PM309
        for i in torch.randperm(len(self.signals), generator=gen).tolist():
            clean = self.signals[i]
            yield clean + self.sigma * torch.randn(clean.shape, generator=gen), clean


train = DataLoader(NoisyWaves(clean_waves(60), 0.7, 10), batch_size=20)
val = DataLoader(NoisyWaves(clean_waves(400), 0.7, 99), batch_size=400)
vx, vy = next(iter(val))
model = nn.Sequential(nn.Linear(48, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 48))
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(150):
    model.train()
    total = 0.0
    for noisy, clean in train:
        loss = ((model(noisy) - clean) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    if epoch % 30 == 29:
        model.eval()
        with torch.no_grad():
            v = ((model(vx) - vy) ** 2).mean().item()
        print(f"epoch {epoch + 1} train {total / 3:.4f} val {v:.4f} (noise power {0.7 ** 2:.2f})")
