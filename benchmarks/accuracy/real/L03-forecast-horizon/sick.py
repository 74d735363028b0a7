"""Forecast an electricity-like load curve: python train.py --pred-len 1"""
import argparse
import math

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class LoadCurve(Dataset):
    def __init__(self, series, seq_len, pred_len):
        self.series, self.seq_len, self.pred_len = series, seq_len, pred_len

    def __len__(self):
        return len(self.series) - self.seq_len - self.pred_len

    def __getitem__(self, i):
        split = i + self.seq_len
        return self.series[i:split].unsqueeze(-1), self.series[split:split + self.pred_len].squeeze()


class GRUForecaster(nn.Module):
    def __init__(self, pred_len, hidden=24):
        super().__init__()
        self.gru = nn.GRU(1, hidden, batch_first=True)
        self.proj = nn.Linear(hidden, pred_len)

    def forward(self, x):
        _, h = self.gru(x)
        return self.proj(h[-1])


def get_series(n=1600):
    t = torch.arange(n, dtype=torch.float32)
    wave = torch.sin(2 * math.pi * t / 24) + 0.5 * torch.sin(2 * math.pi * t / 168)
    return wave + 0.1 * torch.randn(n)


def epoch(model, loader, optim=None):
    total = 0.0
    model.train(optim is not None)
    with torch.set_grad_enabled(optim is not None):
        for xb, yb in loader:
            pred = model(xb)
            loss = nn.functional.mse_loss(pred, yb)  # <- PM501
            if optim is not None:
                optim.zero_grad()
                loss.backward()
                optim.step()
            total += loss.item() * len(xb)
    return total / len(loader.dataset)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--pred-len", type=int, default=1)
    parser.add_argument("--seq-len", type=int, default=24)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(2021)
    series = get_series()
    train_dl = DataLoader(LoadCurve(series[:1200], args.seq_len, args.pred_len), 64, shuffle=True)
    valid_dl = DataLoader(LoadCurve(series[1200:], args.seq_len, args.pred_len), 64)
    net = GRUForecaster(args.pred_len)
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    for ep in range(6):
        print(f"epoch {ep}: train {epoch(net, train_dl, opt):.4f} valid {epoch(net, valid_dl):.4f}")
