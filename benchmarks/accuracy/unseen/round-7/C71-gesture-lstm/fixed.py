"""Accelerometer gesture recognition with an LSTM."""
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

T, FEATURES, GESTURES = 40, 3, 5


def simulate(n, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, GESTURES, (n,), generator=g)
    t = torch.linspace(0, 1, T)[None, :, None]
    freq = (1 + y.float())[:, None, None]
    phase = torch.rand(n, 1, FEATURES, generator=g) * 0.8
    x = torch.sin(2 * math.pi * (freq * t + phase)) + 0.3 * torch.randn(n, T, FEATURES, generator=g)
    return x, y


class GestureLSTM(nn.Module):
    def __init__(self, hidden=48, layers=1):
        super().__init__()
        self.lstm = nn.LSTM(FEATURES, hidden, layers, batch_first=True)
        self.norm = nn.LayerNorm(hidden)
        self.fc = nn.Linear(hidden, GESTURES)

    def forward(self, x):
        out, _ = self.lstm(x)
        return self.fc(self.norm(out[:, -1, :]))


def accuracy(model, loader):
    model.eval()
    good, n = 0, 0
    with torch.no_grad():
        for x, y in loader:
            good += (model(x).argmax(dim=1) == y).sum().item()
            n += y.numel()
    return good / n


def main():
    torch.manual_seed(0)
    train = DataLoader(TensorDataset(*simulate(960, 0)), batch_size=32, shuffle=True)
    test = DataLoader(TensorDataset(*simulate(320, 1)), batch_size=32)
    model = GestureLSTM()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(8):
        model.train()
        epoch_loss = 0.0
        for x, y in train:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            epoch_loss += loss.item()
        print(f"Epoch {epoch + 1}/8, loss {epoch_loss / len(train):.4f}, test accuracy {accuracy(model, test):.3f}")


if __name__ == "__main__":
    main()
