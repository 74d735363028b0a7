import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class PumpWindows(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.alarm = rng.integers(0, 2, n)
        t = np.arange(50) / 50
        base = np.sin(2 * np.pi * 5 * t)[None] * rng.uniform(0.8, 1.2, (n, 1))
        knock = (np.abs(t[None] - rng.uniform(0.2, 0.8, (n, 1))) < 0.06) * 1.5
        self.x = (base + knock * self.alarm[:, None] + rng.normal(0, 0.3, (n, 50))).astype(np.float32)

    def __len__(self):
        return len(self.alarm)

    def __getitem__(self, i):
        return self.x[i][None], np.float32(self.alarm[i])


class AlarmNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv1d(1, 16, 5, padding=2), nn.ReLU(), nn.MaxPool1d(2),
                                  nn.Conv1d(16, 16, 5, padding=2), nn.ReLU(), nn.AdaptiveMaxPool1d(1))
        self.fc = nn.Linear(16, 1)

    def forward(self, x):
        return self.fc(self.conv(x).flatten(1))


def main():
    torch.manual_seed(5)
    torch.set_num_threads(1)
    train = DataLoader(PumpWindows(1200, 1), batch_size=40, shuffle=True)
    val = DataLoader(PumpWindows(400, 2), batch_size=100)
    net = AlarmNet()
    criterion = nn.CrossEntropyLoss()  # <- PM505
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    for epoch in range(8):
        net.train()
        for x, y in train:
            out = net(x)
            loss = criterion(out, y.unsqueeze(1))
            opt.zero_grad()
            loss.backward()
            opt.step()
        net.eval()
        with torch.no_grad():
            hits = sum(((net(x).squeeze(1) > 0).float() == y).sum().item() for x, y in val)
        print(f"epoch {epoch + 1}: loss {loss.item():.4f}, validation accuracy {hits / 400:.3f}")


main()
