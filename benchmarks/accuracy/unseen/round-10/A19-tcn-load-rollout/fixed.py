"""Autoregressive load forecasting with dilated temporal convolutions; forecasts are rolled out step by step."""
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

CONTEXT, ROLLOUT = 48, 12


def load_curve(n=2600, seed=19):
    rng = np.random.default_rng(seed)
    t = np.arange(n)
    level = np.zeros(n)
    for i in range(1, n):
        level[i] = 0.9 * level[i - 1] + rng.normal(0, 0.12)
    y = np.sin(2 * np.pi * t / 24) + 0.5 * np.sin(2 * np.pi * t / 12 + 1) + level
    return torch.tensor((y - y[:2000].mean()) / y[:2000].std(), dtype=torch.float32)


class ConvBlock(nn.Module):
    def __init__(self, channels, kernel, dilation):
        super().__init__()
        self.reach = (kernel - 1) * dilation
        self.conv = nn.Conv1d(channels, channels, kernel, dilation=dilation)
        self.mix = nn.Conv1d(channels, channels, 1)

    def forward(self, x):
        h = F.pad(x, (self.reach, 0))
        return x + self.mix(torch.relu(self.conv(h)))


class LoadTCN(nn.Module):
    def __init__(self, channels=24, kernel=3, dilations=(1, 2, 4, 8)):
        super().__init__()
        self.inp = nn.Conv1d(1, channels, 1)
        self.blocks = nn.Sequential(*(ConvBlock(channels, kernel, d) for d in dilations))
        self.out = nn.Conv1d(channels, 1, 1)

    def forward(self, x):
        return self.out(self.blocks(self.inp(x.unsqueeze(1)))).squeeze(1)


def windows(series, stride):
    return torch.stack([series[i:i + CONTEXT + 1] for i in range(0, len(series) - CONTEXT, stride)])


@torch.no_grad()
def one_step_mse(model, batch):
    model.eval()
    return F.mse_loss(model(batch[:, :-1]), batch[:, 1:]).item()


@torch.no_grad()
def rollout_mae(model, series):
    model.eval()
    starts = range(0, len(series) - CONTEXT - ROLLOUT, 10)
    seq = torch.stack([series[i:i + CONTEXT] for i in starts])
    truth = torch.stack([series[i + CONTEXT:i + CONTEXT + ROLLOUT] for i in starts])
    preds = []
    for _ in range(ROLLOUT):
        nxt = model(seq)[:, -1:]
        preds.append(nxt)
        seq = torch.cat([seq[:, 1:], nxt], dim=1)
    return (torch.cat(preds, 1) - truth).abs().mean().item()


def main():
    torch.manual_seed(19)
    series = load_curve()
    train_series, val_series = series[:2000], series[2000:]
    loader = DataLoader(TensorDataset(windows(train_series, 2)), batch_size=32, shuffle=True)
    val = windows(val_series, 7)
    model = LoadTCN()
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(10):
        model.train()
        total = n = 0
        for (w,) in loader:
            loss = F.mse_loss(model(w[:, :-1]), w[:, 1:])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(w)
            n += len(w)
        print(f"epoch {epoch} train mse {total / n:.4f} val one-step mse {one_step_mse(model, val):.4f} "
              f"rollout mae {rollout_mae(model, val_series):.4f}")


if __name__ == "__main__":
    main()
